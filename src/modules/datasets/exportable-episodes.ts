import { type RawBuilder, sql } from 'kysely'
import type { NotExportable } from './dataset.schema.ts'

/** How much of an episode its recording may lack, in seconds, before an export leaves it out. */
export const MAX_MISSING_SECONDS = 1
/** The shortest part between gaps that an export makes an episode of. */
const MIN_PIECE_SECONDS = 1

/** The treatment of episodes whose recordings lack more than the limit. */
export type GapOption = 'leave_out' | 'cut' | 'include'

/** Why an episode is left out, for sentences about it. */
export const notExportableTexts: Readonly<Record<NotExportable, string>> = {
  no_recording: 'has no recording',
  recording_not_ready: 'has a recording that is not finished, or has failed',
  unfinished: 'was not ended before its session',
  gaps: `has a recording with gaps of more than ${MAX_MISSING_SECONDS} second`,
}

/** Joins the recording of an episode. Robots report episodes before the recording of the session is finished. */
const recordingOfEpisode = sql`
  left join recordings on recordings.client_id = datasets.client_id and (recordings.id = episodes.recording_id
    or (episodes.recording_id is null and recordings.session_id = episodes.session_id))`

const period = sql`tstzmultirange(tstzrange(episodes.started_at, episodes.ended_at))`

/**
 * Joins `missing.ranges`: the times of an episode for which no data was stored, as a union over the sources. These are the gaps, and the
 * times between two streams of the gateway, when recording was off. Streams that continue each other lack nothing in between.
 */
const missingRanges = (cameras: readonly string[] | undefined) => sql`
  cross join lateral (
    select (${period} - coalesce((
      select range_agg(covered.range) from (
        select tstzrange(min(streams.opened_at),
          greatest(min(streams.opened_at), max(coalesce(streams.closed_at, episodes.ended_at)))) as range
        from recording_streams streams
        where streams.recording_id = recordings.id and streams.source = 'gateway'
        group by streams.origin_id) covered), '{}'))
    + (${period} * coalesce((
      select range_agg(tstzrange(gaps.from_at, coalesce(gaps.to_at, greatest(gaps.from_at, episodes.ended_at))))
      from recording_gaps gaps
      where gaps.recording_id = recordings.id
        ${cameras ? sql`and gaps.source = any(${sources(cameras)}::text[])` : sql``}), '{}')) as ranges
  ) missing`

const sources = (cameras: readonly string[]): string[] => [
  'gateway',
  ...cameras.map((camera) => `camera/${camera}`),
]

/** Joins what an export needs to know about an episode. The query has `episodes` and `datasets`. */
export const recordedContent = (cameras?: readonly string[]): RawBuilder<unknown> => sql`
  ${recordingOfEpisode} ${missingRanges(cameras)}
  cross join lateral (
    select coalesce(sum(extract(epoch from upper(range) - lower(range))), 0)::float8 as seconds
    from unnest(missing.ranges) range
  ) lacking
  cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_array(extract(epoch from lower(range)) * 1000, extract(epoch from upper(range)) * 1000)
      order by lower(range)), '[]') as periods
    from unnest(${period} - missing.ranges) range
    where upper(range) - lower(range) >= make_interval(secs => ${MIN_PIECE_SECONDS})
  ) stored`

/** Returns why an export leaves an episode out; null if it does not. The query has `recordedContent`. */
export const reasonNotExportable = (
  options: { readonly gaps?: GapOption | undefined; readonly unfinished?: boolean | undefined } = {},
): RawBuilder<NotExportable | null> => {
  const { gaps = 'leave_out', unfinished = false } = options
  return sql`case
    when recordings.id is null then 'no_recording'
    when recordings.file_key is null then 'recording_not_ready'
    when ${!unfinished} and episodes.source = 'platform' and episodes.marked_by is null then 'unfinished'
    when lacking.seconds > ${MAX_MISSING_SECONDS}
      and (${gaps} = 'leave_out' or (${gaps} = 'cut' and stored.periods = '[]')) then 'gaps'
  end`
}

/** Selects why an export leaves a row of `episodes` out by default. */
export const notExportable = sql<NotExportable | null>`(
  select ${reasonNotExportable()} from datasets ${recordedContent()} where datasets.id = episodes.dataset_id)`
