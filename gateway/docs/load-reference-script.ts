import { parentPort } from 'node:worker_threads';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

// Runs in its own thread, because the package keeps several copies of its script in memory while it is loaded.
const app = fastify();
await app.register(scalar, { routePrefix: '/', configuration: { url: '/' } });
const { body } = await app.inject('/js/scalar.js');
parentPort!.postMessage(body);
