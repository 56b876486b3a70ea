import type { Socket } from 'node:net';

/** OPEN: the other side has answered. CLOSING: it has, and ends the connection. CLOSED: it ended it without an answer. */
export type ProbeResult = 'OPEN' | 'CLOSING' | 'CLOSED' | 'SILENT';

/** What a probe requests. */
export interface ProbeTarget {
  readonly host: string;
  readonly path: string;
}

const END_OF_HEAD = '\r\n\r\n';
/** HTTP/1.0 ends each connection, unless both sides have asked to keep it. */
const ENDS = /^HTTP\/1\.0 |^connection: *close/im;

/**
 * Sends a HEAD request on an idle HTTP/1.1 connection and waits for a response with any status: the kernel of a frozen process
 * also accepts connections and data. The response to HEAD has no body, so the connection is then idle again.
 */
export function probeConnection(
  socket: Socket,
  { host, path }: ProbeTarget,
  timeoutMs: number,
): Promise<ProbeResult> {
  return new Promise((resolve) => {
    let head = '';
    const end = (result: ProbeResult) => {
      clearTimeout(timer);
      socket.off('readable', onReadable).off('close', onClose);
      resolve(result);
    };
    // If this process was paused, it first reads what has arrived meanwhile.
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
