import type { Socket } from 'node:net';

/** OPEN: the other side has answered. CLOSING: it has, and ends the connection. CLOSED: it ended it without an answer. */
export type Proof = 'OPEN' | 'CLOSING' | 'CLOSED' | 'SILENT';

const END_OF_HEAD = '\r\n\r\n';

/**
 * Requests nothing on an idle HTTP/1.1 connection, and waits for the answer: any will do, because the kernel of a frozen
 * process also accepts connections and data. The response to HEAD has no body, so the connection is idle again.
 */
export function proveAlive(socket: Socket, timeoutMs: number): Promise<Proof> {
  return new Promise((resolve) => {
    let head = '';
    const end = (proof: Proof) => {
      clearTimeout(timer);
      socket.off('readable', onReadable).off('close', onClose);
      resolve(proof);
    };
    // After a pause of this process, what has arrived meanwhile is read first.
    const timer = setTimeout(() => setImmediate(() => end('SILENT')), timeoutMs);
    const onClose = () => end('CLOSED');
    const onReadable = () => {
      head += (socket.read() as Buffer | null)?.toString('latin1') ?? '';
      if (head.includes(END_OF_HEAD)) end(/^connection: *close/im.test(head) ? 'CLOSING' : 'OPEN');
    };
    socket.on('readable', onReadable).on('close', onClose);
    socket.write('HEAD / HTTP/1.1\r\nhost: services\r\n\r\n');
  });
}
