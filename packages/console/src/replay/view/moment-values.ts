import { recordingTopics } from '@wheelhouse/protocol'
import type { Moment, MomentReader } from '../data/moment-reader.ts'

/** The newest command at a time, and whether it reached the robot. */
interface CommandMoment extends Moment {
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
  const value = valueAt(isData ? moment?.value.data : moment?.value, key.slice(source.length + 1))
  return typeof value === 'number' ? value : undefined
}

/** Returns what is at a path, whose names may have dots themselves. */
function valueAt(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, path)) return Reflect.get(value, path)
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot)
    const found = Object.hasOwn(value, name)
      ? valueAt(Reflect.get(value, name), path.slice(dot + 1))
      : undefined
    if (found !== undefined) return found
  }
  return undefined
}
