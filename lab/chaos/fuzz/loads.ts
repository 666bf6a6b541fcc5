/** The kinds of load. */
export const LOADS = [
  'nothing',
  'commands',
  'telemetry',
  'schemas',
  'bodies',
  'foxglove',
  'hub',
  'mcp',
  'camera',
] as const
export type Load = (typeof LOADS)[number]

export interface LoadData {
  readonly baseUrl: string
  /** The API key of the account, which is operator and owner. */
  readonly key: string
}
