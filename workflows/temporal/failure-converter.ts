import { DefaultFailureConverter } from '@temporalio/common';

/** Puts messages and stacks of failures into payloads, where a codec can encode them. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
