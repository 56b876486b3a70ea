/** An error that the user can fix: printed without a stack. */
export class CommandFailure extends Error {
  /** Whether the same command may succeed later. */
  readonly isTemporary: boolean;
  /** Whether the sandbox itself says that it is unavailable for the moment. */
  readonly isUnavailable: boolean;

  constructor(
    message: string,
    { isTemporary = false, isUnavailable = false }: { isTemporary?: boolean; isUnavailable?: boolean } = {},
  ) {
    super(message);
    this.isTemporary = isTemporary;
    this.isUnavailable = isUnavailable;
  }
}
