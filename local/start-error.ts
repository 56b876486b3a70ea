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

/** A reason the system cannot start. The message is one line that says what to do; it is printed without a stack. */
export class StartError extends Error {
  readonly reason: StartErrorReason;

  constructor(reason: StartErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
    this.reason = reason;
  }
}
