/** Codes of errors of Node.js and undici that mean a connection could not be opened, or was cut. */
const CONNECTION_ERRORS: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ERR_HTTP2_STREAM_CANCEL',
  'UND_ERR_SOCKET',
]);

/** `npm start` ended while the demo was running. */
export class ServiceStoppedError extends Error {
  constructor(address: string, cause: unknown) {
    super(`the service stopped answering at ${address}: run npm start, then npm run demo again`, { cause });
    this.name = 'ServiceStoppedError';
  }
}

/** Calls a service of `npm start`. Throws a ServiceStoppedError when it cannot be reached. */
export async function callService<T>(address: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw isConnectionError(error) ? new ServiceStoppedError(address, error) : error;
  }
}

function isConnectionError(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (CONNECTION_ERRORS.has((at as NodeJS.ErrnoException).code)) return true;
  }
  return false;
}
