import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { keys } from '../platform/queries.ts'
import { byId, usePages, useRead, useWrite } from '../platform/rest.ts'
import type { DatasetExport } from '../recording/recordings.ts'
import { t } from '../texts/texts.ts'

export type Dataset = Schemas['Dataset']
/** An episode that a robot reported, or that was marked in a session. */
export type Episode = Schemas['Episode']

export const useDatasets = () =>
  useRead([...keys.datasets, 'list'], (rest) => rest.GET('/api/client/datasets'))

/** Queries the episodes of a dataset page by page, newest first. */
export const useEpisodes = (id: string) =>
  usePages([...keys.datasets, id, 'episodes'], { limit: 50 }, async (rest, query) => {
    const params = { path: { id }, query }
    return (await answerOf(rest.GET('/api/client/datasets/{id}/episodes', { params }))).episodes
  })

type Reason = Schemas['DatasetExport']['left_out']['episodes'][number]['reason']

export const reasonTexts: Readonly<Record<Reason, string>> = {
  no_recording: t('data.reasons.no_recording'),
  recording_not_ready: t('data.reasons.recording_not_ready'),
  unfinished: t('data.reasons.unfinished'),
  gaps: t('data.reasons.gaps'),
}

/** Returns which rows of a table are chosen, and a function that chooses a row or withdraws its choice. */
export function useChosen(rows: readonly { readonly id: string }[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  return { ids: rows.map(({ id }) => id).filter((id) => chosen.has(id)), toggle }
}

const POLL_MS = 2_000
const PATH = '/api/client/datasets/exports'
const queryKey = [...keys.datasets, 'exports']

export type NewExport = Omit<Schemas['CreateDatasetExport'], 'format'>

export const isRunning = ({ status }: DatasetExport): boolean => status === 'PENDING' || status === 'RUNNING'

/** Queries the exports of datasets, newest first. Polls while one is unfinished. */
export const useDatasetExports = () =>
  useRead(queryKey, (rest, { signal }) => rest.GET(PATH, { signal }), {
    refetchInterval: ({ state }) => (state.data?.exports.some(isRunning) ? POLL_MS : false),
  })

export const useStartExport = () =>
  useWrite((rest, wanted: NewExport) => rest.POST(PATH, { body: { format: 'lerobot_v3', ...wanted } }), {
    refresh: [queryKey],
  })

export const useRemoveExport = (id: string) =>
  useWrite((rest) => rest.DELETE(`${PATH}/{id}`, byId(id)), {
    refresh: [queryKey],
    refreshesOnError: true,
  })
