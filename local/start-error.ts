export type StartErrorReason =
  | 'DATA_FOLDER_IN_USE'
  | 'DATA_FOLDER_UNREACHABLE'
  | 'DATA_FOLDER_UNREADABLE'
  | 'DATABASE_UNREACHABLE'
  | 'PORT_IN_USE'
  | 'PORT_NOT_ALLOWED'
  | 'POSTGRES_USER_MISSING'
  | 'POSTGRES_NOT_INSTALLED'
  | 'CHILD_DID_NOT_START';

/** What keeps the system from starting, as one line that says what to do: printed without a stack. */
export class StartError extends Error {
  readonly reason: StartErrorReason;

  constructor(reason: StartErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
    this.reason = reason;
  }
}
