import multipart from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MAX_EVIDENCE_BYTES } from '../../../services/contracts/refunds/evidence-limits.ts';
import { Slots, UPLOADS } from '../../../services/platform/process/slots.ts';
import type { GatewayApp } from '../../gateway-app.ts';
import { requireOwnForm } from '../session/own-form.ts';
import { Failure } from './failures.ts';

/** Longer than a token or a key. */
const MAX_FIELD_BYTES = 8 * 1024;

/** The file of a form, or that it exceeds the limit. Its name is as the browser sent it. */
export type UploadedFile = { readonly name: string; readonly content: Buffer } | 'TOO_LARGE';

declare module 'fastify' {
  interface FastifyRequest {
    /** The file of a form, once it has been read. */
    upload: UploadedFile | null;
  }
}

/** The uploads of a dashboard. Only the routes that are registered here read multipart bodies. */
export class Uploads {
  readonly #app: GatewayApp;
  readonly #slots = new Slots(UPLOADS);

  constructor(app: GatewayApp) {
    this.#app = app;
    app.decorateRequest('upload', null);
  }

  /** Registers a route that takes a multipart form. */
  register(route: (app: GatewayApp) => void): void {
    const plugin = async (scope: GatewayApp) => {
      await scope.register(multipart, {
        throwFileSizeLimit: false,
        limits: { fileSize: MAX_EVIDENCE_BYTES, files: 1, fieldSize: MAX_FIELD_BYTES, fields: 8, parts: 9 },
      });
      route(scope);
    };
    void this.#app.register(plugin);
  }

  /**
   * Reads the form into `request.body` and its file into `request.upload`, within the limits. The fields come before the
   * file, so that `requireOwnForm` refuses a foreign form before any of its file is kept.
   * @throws Failure 403 for a foreign form, 400 for another content type, a malformed body or a closed connection, 413 for a
   *   long field, 429 and 503 while too many uploads are running
   */
  async read(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!request.isMultipart()) {
      requireOwnForm(request);
      throw Failure.of(400, 'badRequest');
    }
    this.#start(request, reply);
    try {
      await readParts(request);
    } catch (error) {
      // The parser's own errors: the body is malformed, or its browser left before the end.
      const isKnown = error instanceof Failure || 'statusCode' in (error as Error);
      throw isKnown ? error : Failure.of(400, 'badRequest', error);
    }
    requireOwnForm(request);
  }

  /** Holds a slot until the upload's response has been sent or its connection closes. */
  #start({ view, raw: { socket } }: FastifyRequest, reply: FastifyReply): void {
    // A browser that left while its session was checked emits no further close event.
    if (socket.destroyed) throw Failure.of(400, 'badRequest');
    const { environment, person } = view!;
    const release = this.#slots.acquire(environment, person.accountId);
    if (release === 'PROCESS_LIMIT') throw Failure.of(503, 'unavailable');
    if (release === 'OWNER_LIMIT') throw Failure.of(429, 'tooMany');
    // A response that waits for an earlier one of its connection does not emit close when the connection closes.
    const emitters = [reply.raw, socket];
    const end = () => {
      for (const emitter of emitters) emitter.off('close', end);
      release();
    };
    for (const emitter of emitters) emitter.once('close', end);
  }
}

async function readParts(request: FastifyRequest): Promise<void> {
  const fields: Record<string, unknown> = {};
  request.body = fields;
  for await (const part of request.parts()) {
    if (part.type === 'field') {
      if (part.valueTruncated) throw Failure.of(413, 'tooLarge');
      const { fieldname: name, value } = part;
      fields[name] = name in fields ? [fields[name], value].flat() : value;
      continue;
    }
    requireOwnForm(request);
    const content = await part.toBuffer();
    request.upload = part.file.truncated ? 'TOO_LARGE' : { name: part.filename ?? '', content };
  }
}
