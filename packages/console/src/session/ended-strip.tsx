import { Button, Group, Paper, Text, Textarea } from '@mantine/core'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { type FormEvent, type ReactNode, useState } from 'react'
import { DescriptionItem } from '../base/data-table.tsx'
import { duration, money } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { Problem } from '../base/states.tsx'
import { useMe } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { byId, useWrite } from '../platform/rest.ts'
import { reasonText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { eventText, participantsOf } from './event-texts.ts'
import styles from './session-page.module.css'
import { type SessionDetail, sessionKey } from './session-query.ts'

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
    session.own_operator
      ? [t('session.summary.charge'), t('session.summary.ownOperator')]
      : [
          isEarned ? t('session.summary.earnings') : t('session.summary.charge'),
          cents !== null && money(cents),
        ],
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

const COMMENT_MAX = 2_000

/** Asks the owner for a rating of a session, once. */
export function RatingForm({ session }: { session: SessionDetail }) {
  const [stars, setStars] = useState(0)
  const [comment, setComment] = useState('')
  const rate = useWrite(
    (rest) =>
      rest.POST('/api/sessions/{id}/rate', {
        ...byId(session.id),
        body: { rating: stars, comment: comment.trim() || null },
      }),
    { stores: sessionKey(session.id), refresh: [keys.sessions], refreshesOnError: true },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (stars > 0) rate.mutate()
  }
  return (
    <Group component="form" gap="xs" onSubmit={submit} aria-label={t('session.rating.form')}>
      <Text fw={600}>{t('session.rating.form')}</Text>
      <Group gap={0} role="radiogroup" aria-label={t('session.rating.label')} className={styles.stars ?? ''}>
        {[1, 2, 3, 4, 5].map((count) => (
          <label key={count}>
            <input
              type="radio"
              name="stars"
              checked={stars === count}
              aria-label={t('session.rating.stars', { count })}
              onChange={() => setStars(count)}
            />
            {count <= stars ? '★' : '☆'}
          </label>
        ))}
      </Group>
      {stars > 0 && (
        <>
          <Textarea
            flex="1 1 16rem"
            aria-label={t('session.rating.comment')}
            placeholder={`${t('session.rating.comment')}. ${t('session.rating.commentNote')}`}
            maxLength={COMMENT_MAX}
            minRows={1}
            value={comment}
            onChange={(event) => setComment(event.currentTarget.value)}
          />
          <Button type="submit" loading={rate.isPending}>
            {t('session.rating.submit')}
          </Button>
        </>
      )}
      <Problem error={rate.error} />
    </Group>
  )
}

export const Stars = ({ count }: { count: number }) => (
  <span role="img" aria-label={t('session.rating.rated', { count })}>
    {'★'.repeat(count)}
    {'☆'.repeat(5 - count)}
  </span>
)
