/** Options of every command. */
export interface GlobalOptions {
  readonly server?: string
  readonly profile?: string
  readonly hub?: string
  readonly json?: true
  readonly quiet?: true
  readonly yes?: true
  readonly color: boolean
}
