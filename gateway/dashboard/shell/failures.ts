import { Code, ConnectError } from '@connectrpc/connect';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import { failureTexts } from './failures.texts.ts';
import type { Language, Texts } from './language.ts';

/** A feature's texts that include error messages by the reason of a refused RPC. */
export type Refusals = Texts<{ readonly refusals: Readonly<Record<string, string>> }>;

type Kind = keyof (typeof failureTexts)['en'];

/** An error that is shown as a page, with its HTTP status and message. */
export class Failure extends Error {
  readonly status: number;
  readonly text: Texts<string>;

  constructor(status: number, text: Texts<string>, cause?: unknown) {
    super(text.en, { cause });
    this.name = 'Failure';
    this.status = status;
    this.text = text;
  }

  static of(status: number, kind: Kind, cause?: unknown): Failure {
    return Failure.with(status, failureTexts, (t) => t[kind], cause);
  }

  /** With a message from a feature's texts. */
  static with<T>(status: number, texts: Texts<T>, pick: (texts: T) => string, cause?: unknown): Failure {
    return new Failure(status, { 'pt-BR': pick(texts['pt-BR']), en: pick(texts.en) }, cause);
  }
}

/** The 404 for a page that does not exist or that the person may not see: the two are indistinguishable. */
export const noSuchPage = () => Failure.of(404, 'notFound');

/** The ErrorInfo reason of a refused call; undefined for any other error. */
export function reasonOf(error: unknown): string | undefined {
  return errorInfoOf(error)?.reason;
}

/** The code of a failed call; undefined for any other error. */
export function codeOf(error: unknown): Code | undefined {
  return error instanceof ConnectError ? error.code : undefined;
}

/** A feature's message for a refused call; undefined when it has none. */
export function refusalText(error: unknown, refusals: Refusals, language: Language): string | undefined {
  const reason = reasonOf(error);
  return reason === undefined ? undefined : refusals[language].refusals[reason];
}

/** Maps any thrown value to the failure to show. Unexpected errors reveal nothing about their cause. */
export function failureOf(error: unknown, refusals?: Refusals): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof ConnectError) return failureOfRpc(error, refusals);
  const { statusCode = 500 } = error as { statusCode?: number };
  if (statusCode === 413) return Failure.of(413, 'tooLarge', error);
  if (statusCode >= 400 && statusCode < 500) return Failure.of(400, 'badRequest', error);
  return Failure.of(500, 'internal', error);
}

function failureOfRpc(error: ConnectError, refusals: Refusals | undefined): Failure {
  const reason = reasonOf(error);
  const message = reason === undefined ? undefined : messageFor(reason, refusals);
  const failure = (status: number, kind: Kind) =>
    message ? new Failure(status, message, error) : Failure.of(status, kind, error);
  switch (error.code) {
    case Code.NotFound:
      return failure(404, 'notFound');
    case Code.InvalidArgument:
      return failure(422, 'badRequest');
    case Code.AlreadyExists:
      // Back in the history, the browser may show a form that was sent, and its values can be changed.
      return failure(409, reason === 'IDEMPOTENCY_KEY_REUSED' ? 'staleForm' : 'refused');
    case Code.FailedPrecondition:
    case Code.ResourceExhausted:
    case Code.OutOfRange:
      return failure(409, 'refused');
    case Code.Aborted:
      return failure(409, 'inUse');
    // The person's role has changed since the page was opened. A missing grant is the dashboard's own fault.
    case Code.PermissionDenied:
      return reason === 'ROLE_MISSING'
        ? Failure.of(403, 'forbidden', error)
        : Failure.of(500, 'internal', error);
    case Code.Unavailable:
      return Failure.of(503, 'unavailable', error);
    case Code.DeadlineExceeded:
      return Failure.of(504, 'unavailable', error);
    default:
      return Failure.of(500, 'internal', error);
  }
}

function messageFor(reason: string, refusals: Refusals | undefined): Texts<string> | undefined {
  const portuguese = refusals?.['pt-BR'].refusals[reason];
  const english = refusals?.en.refusals[reason];
  return portuguese && english ? { 'pt-BR': portuguese, en: english } : undefined;
}
