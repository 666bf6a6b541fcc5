import { Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty } from '../base/states.tsx'
import { useLiveSession } from '../platform/use-live.ts'
import { EndedStrip } from '../session/ended-strip.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'

interface Props {
  readonly session: SessionDetail
  /** The heading of the page. */
  readonly heading: string
  /** Why the view of the session is not shown. */
  readonly title: string
  /** The button to go on with; the link to the session without it. */
  readonly action?: ReactNode
  readonly children: ReactNode
}

/** Explains why a session has no view that fills the window, and links to its page. After its end it says how it ended. */
export function SessionUnavailable({ session, heading, title, action, children }: Props) {
  const events = useLiveSession(session.id)?.events
  const link = (
    <LinkButton to="/sessions/$sessionId" params={{ sessionId: session.id }} variant="default">
      {t('drive.page.viewSession')}
    </LinkButton>
  )
  const hasEnded = session.status === 'COMPLETED' || session.status === 'CANCELLED'
  return (
    <Page title={heading}>
      {hasEnded && action === undefined ? (
        <Stack w="100%" maw={760} mx="auto" mt="8vh">
          <Title order={2}>{title}</Title>
          <EndedStrip session={session} events={events}>
            {link}
          </EndedStrip>
        </Stack>
      ) : (
        <Empty title={title} action={action ?? link}>
          {children}
        </Empty>
      )}
    </Page>
  )
}
