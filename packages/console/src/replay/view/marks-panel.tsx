import { ActionIcon, Button, Group, Text, TextInput, UnstyledButton } from '@mantine/core'
import { type FormEvent, type RefObject, useState } from 'react'
import { t } from '../../texts/texts.ts'
import { Problem } from '../../ui/states.tsx'
import type { Replay } from '../player/replay.ts'
import { episodeResult } from './episode-result.ts'
import styles from './replay.module.css'
import { IconTrash } from './replay-icons.tsx'
import { preciseClock } from './replay-time.ts'
import type { EpisodeSpan, Mark } from './tracks.ts'

/** The actions of a viewer with an account on bookmarks. */
export interface BookmarkActions {
  readonly add: (atMs: number, label: string) => Promise<unknown>
  readonly remove: (id: string) => Promise<unknown>
  readonly mayRemove: (mark: Mark) => boolean
}

interface Props {
  readonly replay: Replay
  readonly startMs: number
  readonly episodes: readonly EpisodeSpan[]
  readonly marks: readonly Mark[]
  /** Undefined for a viewer with a link. */
  readonly actions: BookmarkActions | undefined
  /** The field of the label, which a key focuses. */
  readonly field: RefObject<HTMLInputElement | null>
}

/** Lists episodes and bookmarks, and adds bookmarks. */
export function MarksPanel({ replay, startMs, episodes, marks, actions, field }: Props) {
  const [error, setError] = useState<unknown>()
  const attempt = (change: Promise<unknown>) => change.then(() => setError(undefined), setError)
  return (
    <div className={styles.marks}>
      <Text component="h2" size="xs" fw={600} c="dimmed">
        {t('replay.marks.bookmarks')}
      </Text>
      {actions && (
        <NewBookmark
          field={field}
          onAdd={(label) => attempt(actions.add(replay.clock.position.get(), label))}
        />
      )}
      <Problem error={error} />
      {marks.length === 0 && <p className={styles.empty}>{t('replay.marks.noBookmarks')}</p>}
      <ul className={styles.markList}>
        {marks.map((mark) => (
          <li key={mark.bookmark.id}>
            <UnstyledButton onClick={() => replay.jump(mark.fromMs)}>
              <time>{preciseClock(mark.fromMs - startMs)}</time>
              <span>{mark.bookmark.label}</span>
            </UnstyledButton>
            {actions?.mayRemove(mark) && (
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={t('replay.marks.remove', { label: mark.bookmark.label })}
                onClick={() => void attempt(actions.remove(mark.bookmark.id))}
              >
                <IconTrash size={14} />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
      <Text component="h2" size="xs" fw={600} c="dimmed" mt="sm">
        {t('replay.marks.episodes')}
      </Text>
      {episodes.length === 0 && <p className={styles.empty}>{t('replay.marks.noEpisodes')}</p>}
      <ul className={styles.markList}>
        {episodes.map(({ fromMs, toMs, episode }) => (
          <li key={episode.id}>
            <UnstyledButton onClick={() => replay.jump(fromMs)}>
              <time>{preciseClock(fromMs - startMs)}</time>
              <span>
                {episode.task ?? t('replay.marks.noTask')}
                <Text component="span" size="xs" c="dimmed">
                  {' · '}
                  {episodeResult(episode)}
                  {' · '}
                  {preciseClock(toMs - fromMs, 0)}
                </Text>
              </span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </div>
  )
}

function NewBookmark({ field, onAdd }: { field: Props['field']; onAdd: (label: string) => void }) {
  const [label, setLabel] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onAdd(label.trim() || t('replay.marks.unnamed'))
    setLabel('')
    field.current?.blur()
  }
  return (
    <form onSubmit={submit}>
      <Group gap={4} wrap="nowrap">
        <TextInput
          ref={field}
          size="xs"
          flex={1}
          maxLength={200}
          aria-label={t('replay.marks.label')}
          placeholder={t('replay.marks.label')}
          value={label}
          onChange={({ currentTarget: { value } }) => setLabel(value)}
        />
        <Button type="submit" size="xs" variant="default">
          {t('common.add')}
        </Button>
      </Group>
    </form>
  )
}
