import { parentPort } from 'node:worker_threads';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

// In a thread of its own, because the package keeps several copies of its script in memory for as long as it is loaded.
const app = fastify();
await app.register(scalar, { routePrefix: '/', configuration: { url: '/' } });
const { body } = await app.inject('/js/scalar.js');
parentPort!.postMessage(body);
