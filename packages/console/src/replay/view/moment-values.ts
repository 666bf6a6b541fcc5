import { recordingTopics } from '@wheelhouse/protocol'
import type { Moment, MomentReader } from '../data/moment-reader.ts'
import { pathOf } from './plot-lines.ts'

/** The newest command at a time, and whether it reached the robot. */
export interface CommandMoment extends Moment {
  /** Why it did not reach the robot; undefined if it did. */
  readonly dropped: string | undefined
}

export function commandAt(moments: MomentReader, atMs: number): CommandMoment | undefined {
  const passed = moments.at(recordingTopics.control, atMs)
  const dropped = moments.at(recordingTopics.dropped, atMs)
  if (dropped && (!passed || dropped.atMs > passed.atMs))
    return { ...dropped, dropped: String(dropped.value.why) }
  return passed && { ...passed, dropped: undefined }
}

/** Returns the number of a line at a time; undefined if nothing recent has it. */
export function numberAt(moments: MomentReader, key: string, atMs: number): number | undefined {
  const source = key.slice(0, key.indexOf(':'))
  const moment = source === 'control' ? commandAt(moments, atMs) : moments.at(`/${source}`, atMs)
  const isData = source === 'control' || source === 'telemetry'
  let value: unknown = isData ? moment?.value.data : moment?.value
  for (const name of pathOf(key))
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  return typeof value === 'number' ? value : undefined
}
