# The program in an image of its own: docker build -t dupsift . && docker run --rm -v "$PWD:/data" dupsift run corpus --out dedup
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin dupsift && strip -o /dupsift target/release/dupsift

FROM debian:bookworm-slim
COPY --from=build /dupsift /usr/local/bin/dupsift
RUN useradd --create-home --uid 10001 dupsift
USER 10001
WORKDIR /data
ENTRYPOINT ["dupsift"]
CMD ["--help"]
