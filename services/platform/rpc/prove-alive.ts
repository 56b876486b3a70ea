import type { Socket } from 'node:net';

/** OPEN: the other side has answered. CLOSING: it has, and ends the connection. CLOSED: it ended it without an answer. */
export type Proof = 'OPEN' | 'CLOSING' | 'CLOSED' | 'SILENT';

/** What is requested. */
export interface Resource {
  readonly host: string;
  readonly path: string;
}

const END_OF_HEAD = '\r\n\r\n';
/** HTTP/1.0 ends each connection, unless the other side asks for it and is asked. */
const ENDS = /^HTTP\/1\.0 |^connection: *close/im;

/**
 * Requests nothing on an idle HTTP/1.1 connection, and waits for the answer: any will do, because the kernel of a frozen
 * process also accepts connections and data. The response to HEAD has no body, so the connection is idle again.
 */
export function proveAlive(socket: Socket, { host, path }: Resource, timeoutMs: number): Promise<Proof> {
  return new Promise((resolve) => {
    let head = '';
    const end = (proof: Proof) => {
      clearTimeout(timer);
      socket.off('readable', onReadable).off('close', onClose);
      resolve(proof);
    };
    // After a pause of this process, what has arrived meanwhile is read first.
    const timer = setTimeout(() => setImmediate(() => end('SILENT')), timeoutMs).unref();
    const onClose = () => end('CLOSED');
    const onReadable = () => {
      head += (socket.read() as Buffer | null)?.toString('latin1') ?? '';
      if (head.includes(END_OF_HEAD)) end(ENDS.test(head) ? 'CLOSING' : 'OPEN');
    };
    socket.on('readable', onReadable).on('close', onClose);
    socket.write(`HEAD ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  });
}
