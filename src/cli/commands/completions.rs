//! Generates shell completions. Commands and flags come from clap, and the values in lists come from `typed/known.rs`.
//!
//! bash splits words at `:` and `=`, so its script contains a custom function for `--algorithms`: `exact,minhash:bands=20,r` is completed
//! to `exact,minhash:bands=20,rows=`. Other shells complete names and `NAME:parameter=` only at the beginning of the list.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::typed::args::Arguments;
use crate::cli::typed::known::LISTED;

/// Returns the completion script for a shell.
pub(crate) fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "dupsift", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Bash {
        script += &LISTS.replace("@WORDS@", &LISTED.join(" "));
    }
    script
}

/// The function that is appended to clap's completion script for bash.
const LISTS: &str = r#"
# Lists of algorithms: names behind commas, parameters behind the name.
_dupsift_lists() {
    local line=${COMP_LINE:0:COMP_POINT}
    local word=${line##*[[:space:]]}
    local before=(${line%"$word"})
    local flag=${before[${#before[@]}-1]}
    case $word in --algorithms=*) flag=--algorithms; word=${word#--algorithms=} ;; esac
    if [[ $flag != --algorithms ]]; then
        _dupsift "$@"
        return
    fi
    local last=${word##*,} owner= item known
    local head=${word%"$last"}
    for item in ${head//,/ }; do
        case $item in
            *:*) owner=${item%%:*} ;;
            *=*) ;;
            *) owner=$item ;;
        esac
    done
    # What is there already up to the last : or = is another word for bash.
    local there=${word%"${word##*[:=]}"}
    COMPREPLY=()
    for known in @WORDS@; do
        case $known in
            "$last"*) ;;
            "$owner:$last"*) known=${known#*:} ;;
            *) continue ;;
        esac
        known=$head$known
        COMPREPLY+=("${known#"$there"}")
    done
    compopt -o nospace 2>/dev/null
}
complete -F _dupsift_lists -o bashdefault -o default dupsift
"#;

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_knows_names_and_parameters() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for known in
                ["three_plus_five", "minhash", "fineweb", "bigram", "dedup", "annotate", "paragraphs", "readability"]
            {
                assert!(script.contains(known), "{shell}: {known}");
            }
            // Some shells escape colons.
            let plain = script.replace(['\\', '`'], "");
            assert!(plain.contains("minhash:bands=") && plain.contains("minhash:threshold="), "{shell}");
        }
    }

    #[test]
    fn other_texts_are_taken_all_the_same() {
        use clap::Parser;

        let typed = ["dupsift", "run", "a", "--out", "o", "--algorithms", "exact,minhash:bands=20,rows=5"];
        assert!(Arguments::try_parse_from(typed).is_ok());
    }
}
