/** A reason why an export fails that its user can do something about. Another attempt would fail in the same way. */
export class ExportProblem extends Error {}
