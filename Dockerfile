# vibe-relay with git, Node, Claude Code and bubblewrap, for an ordinary user. docs/deployment.md says how to run it.

FROM rust:1.95.0-slim-trixie AS build
# The toolchain of this image, without the components for development that rust-toolchain.toml names.
ENV RUSTUP_TOOLCHAIN=1.95.0
RUN rustup target add wasm32-unknown-unknown
WORKDIR /source
COPY . .
RUN cargo build --locked --release --package vibe-relay

FROM node:24-trixie-slim
# socat is for the published port, see compose.yaml.
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap ca-certificates git git-lfs openssh-client socat \
    && rm -rf /var/lib/apt/lists/*
# The version that the tests run.
ARG CLAUDE_VERSION=2.1.330
RUN npm install --global --no-audit --no-fund "@anthropic-ai/claude-code@${CLAUDE_VERSION}" \
    && npm cache clean --force
# The user id of the owner of the repositories outside, so that agents can write to them.
ARG UID=1000
RUN userdel --remove node \
    && useradd --create-home --uid "${UID}" relay
COPY --from=build /source/target/release/vibe-relay /usr/local/bin/
# No IS_SANDBOX: Claude Code asks for it as root only. Its program belongs to root here, and cannot update itself.
ENV DISABLE_AUTOUPDATER=1
USER ${UID}
WORKDIR /home/relay
# A new volume takes the owner of this folder.
RUN mkdir --mode 700 .vibe-relay
VOLUME /home/relay/.vibe-relay
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["vibe-relay", "--quiet", "person", "list"]
CMD ["vibe-relay", "serve", "--no-open", "--port", "9400"]
