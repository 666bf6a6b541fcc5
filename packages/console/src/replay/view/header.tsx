import { ActionIcon, Badge, Button, Menu, Tooltip } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { dataSize, dateTime } from '../../base/format.ts'
import { RecordingStatusLabel } from '../../recording/recording-status.tsx'
import type { Recording, RecordingParts } from '../../recording/recordings.ts'
import { gapText } from '../../texts/code-texts.ts'
import { t } from '../../texts/texts.ts'
import styles from './replay.module.css'
import { IconBookmark, IconDownload, IconLink, IconMore, IconShare } from './replay-icons.tsx'

interface Props {
  readonly recording: Recording
  /** Undefined for a viewer who may not know it. */
  readonly operatorName: string | undefined
  /** A link back to the session. */
  readonly back?: ReactNode
  readonly onCopyLink: () => void
  /** The actions of a viewer with an account. Each is undefined without the permission. */
  readonly onBookmark?: (() => void) | undefined
  readonly onShare?: (() => void) | undefined
  readonly onFoxglove?: (() => void) | undefined
  readonly onDownloads?: (() => void) | undefined
  readonly onDelete?: (() => void) | undefined
}

/** Names the recording and lists what can be done with it. */
export function ReplayHeader({
  recording,
  operatorName,
  back,
  onCopyLink,
  onBookmark,
  onShare,
  onFoxglove,
  onDownloads,
  onDelete,
}: Props) {
  const { robot_name, started_at, size_bytes, file_url, gaps, expires_at } = recording
  const [isCopied, setCopied] = useState(false)
  const copy = () => {
    onCopyLink()
    setCopied(true)
    setTimeout(() => setCopied(false), 2_000)
  }
  return (
    <header className={styles.header}>
      {back}
      <h1>{robot_name}</h1>
      <RecordingStatusLabel recording={recording} />
      {recording.mode === 'control' && (
        <Badge variant="default" tt="none">
          {t('replay.header.noVideo')}
        </Badge>
      )}
      <span className={styles.about}>
        {operatorName === undefined
          ? dateTime(started_at)
          : t('replay.header.about', { time: dateTime(started_at), operator: operatorName })}
        {gaps.length > 0 && ` · ${t('replay.header.gaps', { count: gaps.length })}`}
        {expires_at !== null && ` · ${t('replay.header.expires', { time: dateTime(expires_at) })}`}
      </span>
      <span className={styles.space} />
      {onBookmark && (
        <Tooltip label={t('replay.tools.hint', { action: t('replay.header.bookmark'), key: 'B' })}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t('replay.header.bookmark')}
            onClick={onBookmark}
          >
            <IconBookmark size={18} />
          </ActionIcon>
        </Tooltip>
      )}
      <Button size="xs" variant="default" leftSection={<IconLink size={14} />} onClick={copy}>
        {isCopied ? t('replay.header.copied') : t('replay.header.copyLink')}
      </Button>
      {onShare && (
        <Button size="xs" variant="default" leftSection={<IconShare size={14} />} onClick={onShare}>
          {t('replay.header.share')}
        </Button>
      )}
      {file_url !== null && (
        <Button
          component="a"
          href={file_url}
          download
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} />}
        >
          {t('replay.header.download', { size: dataSize(size_bytes / 1_000_000) })}
        </Button>
      )}
      {(onFoxglove || onDownloads || onDelete) && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('replay.header.more')}>
              <IconMore size={18} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {onFoxglove && <Menu.Item onClick={onFoxglove}>{t('foxglove.title')}</Menu.Item>}
            {onDownloads && <Menu.Item onClick={onDownloads}>{t('replay.downloads.title')}</Menu.Item>}
            {onDelete && (
              <Menu.Item c="var(--mantine-color-error)" onClick={onDelete}>
                {t('replay.remove.title')}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      )}
    </header>
  )
}

interface RecordingNoticeProps {
  readonly recording: Recording
  readonly parts: RecordingParts
}

/** Says what a viewer must know about the recording as a whole; nothing for most. */
export function RecordingNotice({ recording, parts }: RecordingNoticeProps) {
  const lines = linesOf(recording, parts)
  if (lines.length === 0) return null
  return (
    <div className={styles.notice} role="status">
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines have a fixed order
        <div key={index}>{line}</div>
      ))}
    </div>
  )
}

function linesOf({ status, paused_reason }: Recording, { truncated, parts: [first] }: RecordingParts) {
  return [
    ...(status === 'FAILED' ? [t('replay.notice.failed')] : []),
    ...(status === 'FINISHING' ? [t('replay.notice.finishing')] : []),
    ...(status === 'RECORDING' && paused_reason !== null
      ? [t('replay.notice.interrupted', { reason: gapText(paused_reason) })]
      : []),
    ...(truncated && first ? [t('replay.notice.truncated', { from: dateTime(first.from) })] : []),
  ]
}
