/** A session that can be resumed, and when the origin last showed its certificate. */
interface KnownSession {
  readonly session: Buffer;
  readonly checkedAtMs: number;
}

/** A session usually takes about 2 KB, but receivers choose the size of their tickets. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_SESSION_BYTES = 8 * 1024;
/** A resumed connection shows no certificate, so a full handshake checks it again this often. */
const CERTIFICATE_CHECK_MS = 60 * 60 * 1_000;

/**
 * The TLS sessions of one guard by host and port. They outlive connections, so that the next one to an origin needs
 * no full handshake. All connections of a guard check certificates the same way. Keeps the most recently used ones,
 * up to 64 MiB.
 */
export class TlsSessions {
  readonly #known = new Map<string, KnownSession>();
  #bytes = 0;

  /** The session to resume; undefined for a full handshake. */
  get(origin: string): Buffer | undefined {
    const known = this.#known.get(origin);
    if (!known || performance.now() - known.checkedAtMs >= CERTIFICATE_CHECK_MS) return undefined;
    return known.session;
  }

  /** Keeps the latest session of an origin, after its certificate was checked or an earlier session resumed. */
  keep(origin: string, session: Buffer, resumed: boolean): void {
    const before = this.#known.get(origin);
    const checkedAtMs = resumed ? before?.checkedAtMs : performance.now();
    this.forget(origin);
    if (checkedAtMs === undefined || session.length > MAX_SESSION_BYTES) return;
    this.#known.set(origin, { session, checkedAtMs });
    this.#bytes += session.length;
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= MAX_BYTES) break;
      this.forget(oldest);
    }
  }

  forget(origin: string): void {
    this.#bytes -= this.#known.get(origin)?.session.length ?? 0;
    this.#known.delete(origin);
  }
}
