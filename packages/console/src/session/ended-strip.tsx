import { Group, Paper, Text } from '@mantine/core'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import type { ReactNode } from 'react'
import { DescriptionItem } from '../base/data-table.tsx'
import { duration, money } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { useMe } from '../platform/platform.ts'
import { reasonText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { eventText, participantsOf } from './event-texts.ts'
import { Stars } from './rating.tsx'
import type { SessionDetail } from './session-query.ts'

interface Props {
  readonly session: SessionDetail
  /** The log of the session; undefined while it is loaded. */
  readonly events: readonly SessionLogEvent[] | undefined
  readonly children?: ReactNode
}

const isEnd = ({ type }: SessionLogEvent) => type === 'session.ended' || type === 'session.cancelled'

/** Says how a session ended: by whom and why, how long it was, how often it was stopped, and what it earned or cost. */
export function EndedStrip({ session, events = [], children }: Props) {
  const meId = useMe().id
  const end = events.findLast(isEnd)
  const stops = events.filter(({ type }) => type === 'session.stopped').length
  const isEarned = 'operator_earnings_cents' in session
  const cents = isEarned ? session.operator_earnings_cents : session.client_charge_cents
  const figures: readonly (readonly [string, ReactNode])[] = [
    [t('session.summary.duration'), session.duration_minutes !== null && duration(session.duration_minutes)],
    [t('session.ended.stops'), stops],
    [isEarned ? t('session.summary.earnings') : t('session.summary.charge'), cents !== null && money(cents)],
    [t('session.rating.label'), session.rating !== null && <Stars count={session.rating} />],
  ]
  return (
    <Paper component="section" withBorder p="md" aria-label={t('session.ended.label')}>
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {end
          ? eventText(end, participantsOf(session, meId))
          : reasonText(session.end_reason) || t('drive.page.endedTitle')}
      </Text>
      <Group gap="sm" mt="sm">
        <Group component="dl" gap="xl" flex={1} m={0}>
          {figures.map(
            ([label, value]) =>
              value !== false && (
                <DescriptionItem key={label} label={label} size="xl">
                  {value}
                </DescriptionItem>
              ),
          )}
        </Group>
        {session.operator_id === meId && (
          <>
            <LinkButton to="/available">{t('session.ended.nextRobot')}</LinkButton>
            <LinkButton to="/" variant="default">
              {t('common.home')}
            </LinkButton>
          </>
        )}
        {children}
      </Group>
    </Paper>
  )
}
