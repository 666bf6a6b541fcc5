/** One violation of a rule. `line` is missing when the finding concerns a whole file or folder. */
export interface Finding {
  readonly file: string
  readonly line?: number
  readonly rule: string
  /** Says what is wrong and what to do. */
  readonly message: string
}

/** Formats findings for a terminal, one per line, ordered by file. */
function formatFindings(findings: readonly Finding[]): string {
  return [...findings]
    .sort((a, b) => a.file.localeCompare(b.file) || (a.line ?? 0) - (b.line ?? 0))
    .map(({ file, line, rule, message }) => `${file}${line ? `:${line}` : ''}  ${rule}  ${message}`)
    .join('\n')
}

/** Prints the findings and sets the exit code of the process: 1 when there are any. */
export function report(findings: readonly Finding[]): void {
  if (findings.length === 0) return
  console.log(formatFindings(findings))
  console.log(`${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`)
  process.exitCode = 1
}
