import { ControlSchema, TelemetrySchema } from '@wheelhouse/protocol'
import { useEffect, useState } from 'react'
import type { Recording, RecordingParts } from '../recording/recordings.ts'
import { BlockCache, fetchRangeWith } from './data/block-cache.ts'
import { openPart, timedPart } from './data/recording-source.ts'
import { openReplay, type Replay } from './player/replay.ts'
import { posePathOf, type RecordedSchemas } from './view/plots.tsx'

/** A live session begins this much before its end. */
const SCRUB_BACK_MS = 15_000
const PROBE_BYTES = 1024 * 1024

/** Reads declared schemas; null for one that this page does not understand. */
export const readSchemas = (telemetry: unknown, control: unknown): RecordedSchemas => ({
  telemetry: TelemetrySchema.safeParse(telemetry).data ?? null,
  control: ControlSchema.safeParse(control).data ?? null,
})

/** Reads the schemas that a finished file contains; undefined if it contains none. */
export async function readFileSchemas(
  send: (request: Request) => Promise<Response>,
  parts: RecordingParts,
): Promise<RecordedSchemas | undefined> {
  const [part] = parts.parts
  if (!part || !parts.complete) return undefined
  const file = await openPart(new BlockCache(fetchRangeWith(send), PROBE_BYTES), timedPart(part))
  const values = await file.metadata('schemas')
  if (!values) return undefined
  const parse = (name: string): unknown => {
    try {
      return JSON.parse(values.get(name) ?? 'null')
    } catch {
      return null
    }
  }
  return readSchemas(parse('telemetry_schema'), parse('control_schema'))
}

interface Options {
  readonly recording: Recording
  readonly parts: RecordingParts
  readonly schemas: RecordedSchemas
  readonly send: (request: Request) => Promise<Response>
  /** The position at which the replay begins, in seconds since the start; undefined for the first picture, or for the end of a running recording. */
  readonly atSeconds: number | undefined
}

/** Opens a replay while the component is mounted, and passes it new parts. Returns undefined until it is open. */
export function useReplay({ recording, parts, schemas, send, atSeconds }: Options): Replay | undefined {
  const [replay, setReplay] = useState<Replay>()
  const { id, status, started_at, ended_at } = recording
  const lastPartMs = Math.max(...parts.parts.map(({ to }) => Date.parse(to)))
  const fromMs = Date.parse(started_at)
  const toMs = Math.max(fromMs + 1, ended_at === null ? lastPartMs : Date.parse(ended_at))

  // biome-ignore lint/correctness/useExhaustiveDependencies: parts and status change while it is open, see below
  useEffect(() => {
    const isLive = status === 'RECORDING' && atSeconds === undefined
    const opened = openReplay({
      fetchRange: fetchRangeWith(send),
      parts,
      fromMs,
      toMs,
      startMs: isLive
        ? toMs - SCRUB_BACK_MS
        : atSeconds === undefined
          ? undefined
          : fromMs + atSeconds * 1_000,
      posePath: posePathOf(schemas.telemetry),
    })
    setReplay(opened)
    return () => {
      opened.close()
      setReplay(undefined)
    }
  }, [id, fromMs, schemas, send])

  useEffect(() => {
    if (replay) replay.setParts(parts, toMs)
  }, [replay, parts, toMs])
  return replay
}

export function momentAddress(page: string, sinceStartMs: number): string {
  const address = new URL(page)
  address.searchParams.delete('at')
  address.searchParams.set('t', (Math.max(0, sinceStartMs) / 1_000).toFixed(1))
  return address.href
}

/** Copies a link to a moment. Without permission the address bar has it. */
export function copyMoment(page: string, { clock, startMs }: Replay): void {
  const address = momentAddress(page, clock.position.get() - startMs)
  navigator.clipboard.writeText(address).catch(() => history.replaceState(history.state, '', address))
}
