import { Anchor, Badge, Box, Container, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { ApiError, answerOf, type RestClient } from '@wheelhouse/sdk'
import type { RecordedSchemas } from '../view/plots.tsx'
import 'uplot/dist/uPlot.min.css'
import { useState } from 'react'
import { Loading, Problem } from '../../base/states.tsx'
import type { Recording, RecordingParts } from '../../recording/recordings.ts'
import { participantsOf } from '../../session/event-texts.ts'
import { t } from '../../texts/texts.ts'
import { copyMoment, readFileSchemas, readSchemas, useReplay } from '../open-replay.ts'
import { ReplayView } from '../view/replay-view.tsx'

const POLL_MS = 3_000
const NONE: readonly never[] = []
const NO_SCHEMAS: RecordedSchemas = readSchemas(null, null)
/** A visitor has no part in the session: the log names its participants by their roles. */
const VISITOR = participantsOf(undefined, '')

const send = (request: Request) => fetch(request)

/** Returns where a link begins, in seconds since the start; undefined without a time in it. */
function startSeconds({ started_at }: Recording): number | undefined {
  const parameters = new URLSearchParams(location.search)
  const [seconds, atMs] = [Number(parameters.get('t') ?? 'none'), Date.parse(parameters.get('at') ?? '')]
  if (Number.isFinite(seconds)) return seconds
  return Number.isNaN(atMs) ? undefined : (atMs - Date.parse(started_at)) / 1_000
}

export function SharedReplay({ rest, token }: { rest: RestClient; token: string }) {
  const path = { params: { path: { token } } }
  const recording = useQuery({
    queryKey: ['shared', token],
    queryFn: () => answerOf(rest.GET('/api/shared/recordings/{token}', path)),
  })
  const parts = useQuery({
    queryKey: ['shared', token, 'parts'],
    queryFn: () => answerOf(rest.GET('/api/shared/recordings/{token}/parts', path)),
    refetchInterval: ({ state }) => (state.data?.complete ? false : POLL_MS),
    enabled: recording.data !== undefined,
  })
  const schemas = useQuery({
    queryKey: ['shared', token, 'schemas'],
    queryFn: async () => (parts.data && (await readFileSchemas(send, parts.data))) ?? NO_SCHEMAS,
    enabled: parts.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const error = recording.error ?? parts.error ?? schemas.error
  if (error) {
    const isInvalid = error instanceof ApiError && error.status >= 400 && error.status < 500
    return (
      <Plain>
        {isInvalid ? (
          <>
            <Text>{t('replay.shared.invalid')}</Text>
            <Anchor href="/">{t('common.product')}</Anchor>
          </>
        ) : (
          <Problem error={error} onRetry={() => void recording.refetch()} />
        )}
      </Plain>
    )
  }
  if (!recording.data || !parts.data || !schemas.data) return <Loading />
  if (parts.data.parts.length > 0)
    return <Opened recording={recording.data} parts={parts.data} schemas={schemas.data} />
  return (
    <Plain>
      <Text>{t('replay.page.nothingYet')}</Text>
    </Plain>
  )
}

const Plain = ({ children }: { children: React.ReactNode }) => (
  <Container component="main" size="sm" py="xl">
    <Stack>
      <Title order={1}>{t('replay.page.kind')}</Title>
      {children}
    </Stack>
  </Container>
)

function Opened(props: { recording: Recording; parts: RecordingParts; schemas: RecordedSchemas }) {
  const { recording, parts, schemas } = props
  const [atSeconds] = useState(() => startSeconds(recording))
  const replay = useReplay({ recording, parts, schemas, send, atSeconds })
  const title = t('replay.page.title', { robot: recording.robot_name })
  useDocumentTitle(`${title} · ${t('common.product')}`)
  if (!replay) return <Loading />
  return (
    <Box component="main" p="md" mih="100dvh">
      <ReplayView
        replay={replay}
        recording={recording}
        parts={parts}
        episodes={NONE}
        schemas={schemas}
        participants={VISITOR}
        bookmarks={NONE}
        back={<Badge>{t('replay.shared.mark')}</Badge>}
        onCopyLink={() => copyMoment(location.href, replay)}
      />
    </Box>
  )
}
