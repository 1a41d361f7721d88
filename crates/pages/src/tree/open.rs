//! Inspects the state of the tree builder: the open elements, and the formatting elements that will be reopened.

use super::sink::Sink;
use super::withheld::is_formatting;
use dom_query::NodeId;
use html5ever::interface::Tracer;
use html5ever::tree_builder::TreeBuilder;
use html5ever::{LocalName, local_name};
use std::cell::{Cell, RefCell};

type Builder = TreeBuilder<NodeId, Sink>;

/// Returns the number of open elements plus the number of formatting elements that will be reopened. Open formatting elements are counted
/// twice.
pub(crate) fn count(builder: &Builder) -> usize {
    let all = All(Cell::new(0));
    builder.trace_handles(&all);
    all.0.get()
}

/// Returns the number of formatting elements, excluding links, that are open or will be reopened. Each element is counted once.
pub(crate) fn formatting(builder: &Builder) -> usize {
    let found = Formatting { sink: &builder.sink, nodes: RefCell::default() };
    builder.trace_handles(&found);
    let mut nodes = found.nodes.into_inner();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.len()
}

/// Returns whether an element with this name is open or will be reopened.
pub(crate) fn is_open(builder: &Builder, name: &LocalName) -> bool {
    let search = Search { sink: &builder.sink, name, found: Cell::new(false) };
    builder.trace_handles(&search);
    search.found.get()
}

struct All(Cell<usize>);

impl Tracer for All {
    type Handle = NodeId;

    fn trace_handle(&self, _node: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}

struct Formatting<'a> {
    sink: &'a Sink,
    nodes: RefCell<Vec<NodeId>>,
}

impl Tracer for Formatting<'_> {
    type Handle = NodeId;

    fn trace_handle(&self, node: &NodeId) {
        let name = self.sink.document.tree.get_name(node);
        if name.is_some_and(|name| is_formatting(&name.local) && name.local != local_name!("a")) {
            self.nodes.borrow_mut().push(*node);
        }
    }
}

struct Search<'a> {
    sink: &'a Sink,
    name: &'a LocalName,
    found: Cell<bool>,
}

impl Tracer for Search<'_> {
    type Handle = NodeId;

    fn trace_handle(&self, node: &NodeId) {
        let name = self.sink.document.tree.get_name(node);
        if name.is_some_and(|name| name.local == *self.name) {
            self.found.set(true);
        }
    }
}
