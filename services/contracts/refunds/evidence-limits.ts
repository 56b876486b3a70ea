/** The largest file: 5 MB. */
export const MAX_EVIDENCE_BYTES = 5 * 1024 * 1024;

/** The most files of a refund case or a dispute. */
export const MAX_EVIDENCE_FILES = 10;

/** The largest chunk of a file in one AddEvidence message, as the proto file validates it. */
export const MAX_EVIDENCE_CHUNK_BYTES = 256 * 1024;
