import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { KeyRing } from '../../services/platform/key-ring.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** The encoding of Temporal's own samples, which their tools recognize. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

/**
 * Encrypts payloads with AES-256-GCM and the current key, and decrypts with all keys. Passes payloads from before
 * encryption was turned on through unchanged.
 */
export class EncryptionCodec implements PayloadCodec {
  readonly #keys: () => KeyRing;

  /** @param keys returns the current keys, which may be replaced. */
  constructor(keys: () => KeyRing) {
    this.#keys = keys;
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.#encrypt(payload));
  }

  /** Throws for a payload whose key the ring does not have, or that was modified. */
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) =>
      textOf(payload, 'encoding') === ENCRYPTED ? this.#decrypt(payload) : payload,
    );
  }

  #encrypt(payload: Payload): Payload {
    const { id, secret } = this.#keys().current;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, secret, iv);
    const encrypted = cipher.update(PayloadMessage.encode(payload).finish());
    return {
      metadata: { encoding: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(`v${id}`) },
      data: Buffer.concat([iv, encrypted, cipher.final(), cipher.getAuthTag()]),
    };
  }

  #decrypt(payload: Payload): Payload {
    const keyId = textOf(payload, KEY_ID);
    const secret = this.#keys().find(Number(/^v(\d+)$/.exec(keyId)?.[1]));
    if (!secret) throw new Error(`TEMPORAL_PAYLOAD_KEYS_PATH has no key ${keyId}, which encrypts a payload`);
    const data = Buffer.from(payload.data ?? []);
    const iv = data.subarray(0, IV_BYTES);
    const decipher = createDecipheriv(CIPHER, secret, iv, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(data.subarray(-TAG_BYTES));
    const decrypted = decipher.update(data.subarray(IV_BYTES, -TAG_BYTES));
    return PayloadMessage.decode(Buffer.concat([decrypted, decipher.final()]));
  }
}

const textOf = ({ metadata }: Payload, name: string) => Buffer.from(metadata?.[name] ?? []).toString();

/** Parses a key ring file, in which keys may be on separate lines. */
export const parsePayloadKeys = (text: string): KeyRing =>
  KeyRing.parse(text.trim().replaceAll(/\s*\n\s*/g, ','));
