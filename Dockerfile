# The three runtimes in one image; docker-compose.yml says which one a container runs.
FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY proto/gen proto/gen
COPY services services
COPY gateway gateway
COPY workflows workflows
USER node
