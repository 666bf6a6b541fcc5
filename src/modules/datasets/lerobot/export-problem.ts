/** A reason why a dataset cannot be exported, in words for its user. Another attempt would fail in the same way. */
export class ExportProblem extends Error {}
