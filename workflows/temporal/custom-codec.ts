import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PayloadCodec } from '@temporalio/common';

/** Loads the operator's own codec: the export `payloadCodec` of a module. */
export async function importCodec(path: string): Promise<PayloadCodec> {
  const { payloadCodec } = (await import(pathToFileURL(resolve(path)).href)) as { payloadCodec?: unknown };
  if (!isCodec(payloadCodec)) throw new Error(`${path} must export payloadCodec with encode and decode`);
  return payloadCodec;
}

function isCodec(value: unknown): value is PayloadCodec {
  const { encode, decode } = (value ?? {}) as Partial<Record<keyof PayloadCodec, unknown>>;
  return typeof encode === 'function' && typeof decode === 'function';
}
