import { Group, Text } from '@mantine/core'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import type { ReactNode } from 'react'
import { duration, money } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { useMe } from '../platform/platform.ts'
import { reasonText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { eventText } from './event-texts.ts'
import { Stars } from './rating.tsx'
import styles from './session-page.module.css'
import type { SessionDetail } from './session-query.ts'

interface Props {
  readonly session: SessionDetail
  /** The log of the session; undefined while it is loaded. */
  readonly events: readonly SessionLogEvent[] | undefined
  /** Further buttons. */
  readonly children?: ReactNode
}

const isEnd = ({ type }: SessionLogEvent) => type === 'session.ended' || type === 'session.cancelled'

/** Says how a session ended: by whom and why, how long it was, how often it was stopped, and what it earned or cost. */
export function EndedStrip({ session, events = [], children }: Props) {
  const meId = useMe().id
  const { operator_id: operatorId, operator_name: operatorName, client_id: clientId } = session
  const participants = { meId, operatorId, operatorName, clientId }
  const end = events.findLast(isEnd)
  const stops = events.filter(({ type }) => type === 'session.stopped').length
  return (
    <section className={styles.strip} aria-label={t('session.ended.label')}>
      <Text className={styles.how} fw={600}>
        {end ? eventText(end, participants) : reasonText(session.end_reason) || t('drive.page.endedTitle')}
      </Text>
      <dl>
        {session.duration_minutes !== null && (
          <Figure label={t('session.summary.duration')}>{duration(session.duration_minutes)}</Figure>
        )}
        <Figure label={t('session.ended.stops')}>{stops}</Figure>
        <Amount session={session} />
        {session.rating !== null && (
          <Figure label={t('session.rating.label')}>
            <Stars count={session.rating} />
          </Figure>
        )}
      </dl>
      <Group gap="xs">
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
    </section>
  )
}

function Amount({ session }: { session: SessionDetail }) {
  const isEarned = 'operator_earnings_cents' in session
  const cents = isEarned ? session.operator_earnings_cents : session.client_charge_cents
  if (cents === null) return null
  return (
    <Figure label={isEarned ? t('session.summary.earnings') : t('session.summary.charge')}>
      {money(cents)}
    </Figure>
  )
}

const Figure = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)
