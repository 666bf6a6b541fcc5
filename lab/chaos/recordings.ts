import type { Client } from 'pg'

/** A segment that the platform acknowledged. Times are Unix milliseconds. */
export interface AcknowledgedSegment {
  readonly recordingId: string
  readonly streamId: string
  readonly number: number
  readonly fromMs: number
  readonly lastMs: number
  readonly messages: number
}

/** The recordings of a run, as the checks read them. */
export interface StoredRecordings {
  /** Returns every segment that was acknowledged during the run. */
  segments(): Promise<AcknowledgedSegment[]>
  /** Returns the finished file as its owner downloads it. */
  file(recordingId: string, ownerId: string): Promise<Uint8Array>
}

/** The figures that the check of recordings has compared. */
export interface RecordingFigures {
  recordings: number
  segments: number
  messages: number
  /** Numbered commands that robots received in recorded sessions, and those of them that the recordings lack, in gaps. */
  commands: number
  missing: number
  /** The number of gaps by reason. */
  readonly gaps: Map<string, number>
}

/** Copies every segment when it is recorded: the platform deletes its row once the file is finished. */
const COPY_SEGMENTS = `
  create table chaos_segments (like recording_segments);
  create function chaos_copy_segment() returns trigger language plpgsql as $$
    begin insert into chaos_segments values (new.*); return null; end $$;
  create trigger chaos_copy_segment after insert on recording_segments for each row execute function chaos_copy_segment();`

/** Makes the database note every acknowledged segment of this run, and records all robots. */
export async function recordEverything(db: Client): Promise<void> {
  await db.query(COPY_SEGMENTS)
  await db.query("update robots set recording = 'control'")
}

export function createStoredRecordings(parts: {
  db: Pick<Client, 'query'>
  baseUrl: string
  owners: readonly { readonly id: string; readonly apiKey: string }[]
}): StoredRecordings {
  const { db, baseUrl, owners } = parts
  const keys = new Map(owners.map(({ id, apiKey }) => [id, apiKey]))
  return {
    async segments() {
      const { rows } = await db.query<AcknowledgedSegment & { fromAt: Date }>(
        `select recording_id as "recordingId", stream_id as "streamId", number, from_at as "fromAt", last_ms as "lastMs",
           messages from chaos_segments order by recording_id, stream_id, number`,
      )
      return rows.map(({ fromAt, ...row }) => ({ ...row, fromMs: fromAt.getTime() }))
    },
    async file(recordingId, ownerId) {
      const headers = { authorization: `Bearer ${keys.get(ownerId)}` }
      const response = await fetch(new URL(`/api/recordings/${recordingId}/file`, baseUrl), { headers })
      if (!response.ok) throw new Error(`the file was answered with ${response.status}`)
      return new Uint8Array(await response.arrayBuffer())
    },
  }
}
