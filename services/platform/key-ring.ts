import { createSecretKey, type KeyObject } from 'node:crypto';

/** Versioned secret keys: the first is current, all verify and decrypt. KeyObjects are faster than raw keys. */
export class KeyRing {
  readonly current: { readonly id: number; readonly secret: KeyObject };
  readonly #keys: ReadonlyMap<number, KeyObject>;

  constructor(keys: readonly { id: number; secret: KeyObject }[]) {
    const [first] = keys;
    if (!first) throw new TypeError('a key ring holds at least one key');
    this.current = first;
    this.#keys = new Map(keys.map(({ id, secret }) => [id, secret]));
  }

  /** The key with this version; undefined if it is not configured. */
  find(id: number): KeyObject | undefined {
    return this.#keys.get(id);
  }

  /** All keys, the current one first. */
  get secrets(): readonly KeyObject[] {
    return [...this.#keys.values()];
  }

  /**
   * Parses `v1:<base64 of 32 bytes>,v2:…`, versions 1 to 255. Throws an Error that describes the fault without
   * repeating the value.
   */
  static parse(text: string): KeyRing {
    const keys = text.split(',').map((entry) => {
      const match = /^v(\d{1,3}):([A-Za-z0-9+/]{43}=)$/.exec(entry.trim());
      const id = Number(match?.[1]);
      if (!match || id < 1 || id > 255) {
        throw new Error('must be a comma-separated list of v<1-255>:<base64 of 32 bytes>');
      }
      return { id, secret: createSecretKey(match[2]!, 'base64') };
    });
    if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error('names a version twice');
    return new KeyRing(keys);
  }
}
