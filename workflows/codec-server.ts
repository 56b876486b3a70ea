import cors from '@fastify/cors';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { type FastifyInstance, fastify } from 'fastify';
import { ConfigError, KEY_RINGS, RPC_TLS, readConfig } from '../services/platform/process/config.ts';
import { runProcess } from '../services/platform/process/run-process.ts';
import { createLogger } from '../services/platform/process/telemetry.ts';
import { loadPayloadCodec } from './temporal/data-converter.ts';

/** Payloads in the JSON of protobuf: bytes are base64. */
interface JsonPayloads {
  readonly payloads?: readonly JsonPayload[];
}
interface JsonPayload {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly data?: string;
}

const PAYLOADS_SCHEMA = {
  type: 'object',
  properties: {
    payloads: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          metadata: { type: 'object', additionalProperties: { type: 'string' } },
          data: { type: 'string' },
        },
      },
    },
  },
};

/** The limit of Temporal's own gRPC messages. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Temporal's remote codec protocol, for its UI and command line. It has no access control: anyone who can reach it can
 * decrypt workflow payloads.
 */
function createCodecServer(
  codec: PayloadCodec,
  { namespace, uiUrl }: { readonly namespace: string; readonly uiUrl: string | undefined },
): FastifyInstance {
  const server = fastify({ logger: false, bodyLimit: MAX_BODY_BYTES });
  void server.register(cors, {
    // Keeps pages of other origins from reading responses.
    origin: uiUrl === undefined ? false : new URL(uiUrl).origin,
    methods: ['POST'],
    allowedHeaders: ['content-type', 'x-namespace', 'authorization'],
  });
  for (const [path, operation] of Object.entries({ '/decode': 'decode', '/encode': 'encode' } as const)) {
    const options = { schema: { body: PAYLOADS_SCHEMA } };
    server.post<{ Body: JsonPayloads }>(path, options, async ({ body, headers }, reply) => {
      if (headers['x-namespace'] !== namespace) return reply.code(404).send({ message: 'unknown namespace' });
      const payloads = (body.payloads ?? []).map(fromJson);
      try {
        return { payloads: (await codec[operation](payloads)).map(toJson) };
      } catch (error) {
        return reply.code(400).send({ message: (error as Error).message });
      }
    });
  }
  return server;
}

const fromJson = ({ metadata = {}, data = '' }: JsonPayload): Payload => ({
  metadata: Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
  ),
  data: Buffer.from(data, 'base64'),
});

const toJson = ({ metadata, data }: Payload): JsonPayload => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
  data: base64(data),
});

const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');

await runProcess('codec server', async () => {
  const config = readConfig(process.env, {
    oneOf: ['TEMPORAL_PAYLOAD_KEYS_PATH', 'TEMPORAL_PAYLOAD_CODEC'],
    unused: ['DATABASE_URL', ...KEY_RINGS, ...RPC_TLS],
  });
  const logger = createLogger(config.LOG_LEVEL);
  const codec = await loadPayloadCodec(config, logger);
  if (!codec) throw new ConfigError(['TEMPORAL_PAYLOAD_KEYS_PATH is required']);
  const { TEMPORAL_NAMESPACE: namespace, TEMPORAL_UI_URL: uiUrl, HOST: host, CODEC_PORT: port } = config;
  const server = createCodecServer(codec, { namespace, uiUrl });
  await server.listen({ host, port });
  logger.info({ codec: port }, 'the codec server is listening');
  return { close: () => server.close() };
});
