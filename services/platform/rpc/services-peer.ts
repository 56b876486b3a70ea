import type { Socket } from 'node:net';

/** One address of services: the connections to it, and whether it answers. */
export class ServicesPeer {
  readonly address: string;
  /** Whether it did not answer when it was last connected to or probed. */
  isSilent = false;
  /** The connection for probes only. */
  probe: Socket | undefined;
  /** The probe in progress: whether it is answered. */
  probing: Promise<boolean> | undefined;
  readonly #sockets = new Set<Socket>();
  /** The bytes read on connections that have ended. */
  #formerBytes = 0;
  /** The bytes read until the last check. */
  #checkedBytes = 0;
  #wasQuiet = false;

  constructor(address: string) {
    this.address = address;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#formerBytes += socket.bytesRead;
    });
  }

  get isConnected(): boolean {
    return this.#sockets.size > 0;
  }

  /** Returns whether nothing has arrived since the last check. */
  check(): boolean {
    const bytes = this.#bytes;
    this.#wasQuiet = this.isConnected && bytes === this.#checkedBytes;
    this.#checkedBytes = bytes;
    return this.#wasQuiet;
  }

  /** Whether nothing has arrived since the check before the last one. */
  get isQuiet(): boolean {
    return this.isConnected && this.#wasQuiet && this.#bytes === this.#checkedBytes;
  }

  /** Ends the connections. */
  end(error: Error): void {
    for (const socket of this.#sockets) socket.destroy(error);
  }

  get #bytes(): number {
    return [...this.#sockets].reduce((sum, socket) => sum + socket.bytesRead, this.#formerBytes);
  }
}
