/** An error that the user can fix: printed without a stack. */
export class CommandFailure extends Error {
  /** Whether the same command may succeed later. */
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary = false }: { isTemporary?: boolean } = {}) {
    super(message);
    this.isTemporary = isTemporary;
  }
}
