/** The memo of a workflow that a START command of the outbox has started. */
const COMMAND_ID = 'commandId';

/** Notes in the workflow's memo which command started it. */
export const startedBy = (commandId: string): Record<string, string> => ({ [COMMAND_ID]: commandId });

/** The command that started the workflow; undefined if no command did. */
export function startingCommand(memo: Record<string, unknown> | undefined): string | undefined {
  const id = memo?.[COMMAND_ID];
  return typeof id === 'string' ? id : undefined;
}

/** Sent with a command's id to a running workflow that is started again, so that it checks for new work before it completes. */
export const STARTED_AGAIN_SIGNAL = 'startedAgain';
