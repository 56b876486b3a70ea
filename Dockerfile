# The four runtimes in one image; docker-compose.yml says which one a container runs.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Without install scripts: one of them downloads a Node.js, which the image has already.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force

FROM node:24.21.0-bookworm-slim
# By default, threads that have once been busy at the same time keep their memory apart for good.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2
WORKDIR /app
COPY package.json ./
COPY --from=dependencies /app/node_modules node_modules
COPY proto/gen proto/gen
COPY services services
COPY gateway gateway
COPY workflows workflows
# Once, and not at each start of a worker.
ENV WORKFLOW_BUNDLE_DIR=/app/workflow-bundles
RUN node workflows/write-bundles.ts workflow-bundles
# Its files belong to root: the process can change none of them.
USER node
