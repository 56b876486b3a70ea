import type { Socket } from 'node:net';

/** The first bytes of every HTTP/2 connection. */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2');

/** Holds connections without TLS until their first bytes show the protocol. */
export class PlainConnections {
  readonly #undecided = new Set<Socket>();
  readonly #accept: (socket: Socket, isHttp2: boolean) => void;
  readonly #timeoutMs: number;

  /** @param timeoutMs how long a connection may take to send its first bytes. */
  constructor(accept: (socket: Socket, isHttp2: boolean) => void, timeoutMs: number) {
    this.#accept = accept;
    this.#timeoutMs = timeoutMs;
  }

  add(socket: Socket): void {
    this.#undecided.add(socket);
    const timer = setTimeout(() => socket.destroy(), this.#timeoutMs);
    const decided = () => {
      clearTimeout(timer);
      this.#undecided.delete(socket);
    };
    socket.on('error', () => socket.destroy());
    socket.once('close', decided);
    let first = Buffer.alloc(0);
    const onReadable = () => {
      const more = socket.read() as Buffer | null;
      if (more === null) return;
      first = Buffer.concat([first, more]);
      const length = Math.min(first.length, HTTP2_PREFACE.length);
      const isHttp2 = first.subarray(0, length).equals(HTTP2_PREFACE.subarray(0, length));
      // A POST and the HTTP/2 preface start with the same byte, so wait for more.
      if (isHttp2 && length < HTTP2_PREFACE.length) return;
      socket.off('readable', onReadable);
      decided();
      socket.unshift(first);
      this.#accept(socket, isHttp2);
    };
    socket.on('readable', onReadable);
    socket.once('end', () => {
      if (this.#undecided.has(socket)) socket.destroy();
    });
  }

  close(): void {
    for (const socket of this.#undecided) socket.destroy();
  }
}
