import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Config } from '../../services/platform/process/config.ts';
import { CredentialFiles } from '../../services/platform/process/credential-files.ts';
import { importCodec } from './custom-codec.ts';
import { EncryptionCodec, parsePayloadKeys } from './encryption-codec.ts';

/** The settings of how payloads are stored in Temporal. */
export type PayloadConfig = Partial<Pick<Config, 'TEMPORAL_PAYLOAD_KEYS_PATH' | 'TEMPORAL_PAYLOAD_CODEC'>>;

/** For bundles and data converters: failures are encoded with the other payloads. */
export const FAILURE_CONVERTER_PATH = fileURLToPath(new URL('./failure-converter.ts', import.meta.url));

/** Whether payloads are encoded before they leave the process. */
export const encodesPayloads = (config: PayloadConfig): boolean =>
  config.TEMPORAL_PAYLOAD_KEYS_PATH !== undefined || config.TEMPORAL_PAYLOAD_CODEC !== undefined;

/**
 * The converter that encodes arguments, results, memos and failures; undefined if none is configured. Throws when it
 * cannot be loaded.
 */
export async function createDataConverter(
  config: PayloadConfig,
  logger: Logger,
): Promise<DataConverter | undefined> {
  const codec = await loadPayloadCodec(config, logger);
  return codec && { payloadCodecs: [codec], failureConverterPath: FAILURE_CONVERTER_PATH };
}

/** The configured codec: our encryption, or the operator's own module. */
export async function loadPayloadCodec(
  { TEMPORAL_PAYLOAD_KEYS_PATH: keysPath, TEMPORAL_PAYLOAD_CODEC: module }: PayloadConfig,
  logger: Logger,
): Promise<PayloadCodec | undefined> {
  if (module !== undefined) return importCodec(module);
  if (keysPath === undefined) return undefined;
  const read = () => {
    try {
      return parsePayloadKeys(readFileSync(keysPath, 'utf8'));
    } catch (error) {
      throw new Error(`${keysPath}: no keys: ${(error as Error).message}`, { cause: error });
    }
  };
  const keys = new CredentialFiles({ name: 'temporal-payload-keys', read, logger });
  return new EncryptionCodec(() => keys.current);
}
