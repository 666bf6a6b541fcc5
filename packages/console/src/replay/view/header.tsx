import { ActionIcon, Badge, Button, Menu } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { dataSize, dateTime } from '../../base/format.ts'
import { RecordingStatusLabel } from '../../recording/recording-status.tsx'
import type { Recording, RecordingParts } from '../../recording/recordings.ts'
import { gapText } from '../../texts/code-texts.ts'
import { t } from '../../texts/texts.ts'
import styles from './replay.module.css'
import { IconDownload, IconMore, IconShare } from './replay-icons.tsx'

interface Props {
  readonly recording: Recording
  /** Undefined for a viewer who may not know it. */
  readonly operatorName: string | undefined
  /** A link back to the session. */
  readonly back?: ReactNode
  readonly onCopyLink: () => void
  /** The actions of a viewer with an account. Each is undefined without the permission. */
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
  onShare,
  onFoxglove,
  onDownloads,
  onDelete,
}: Props) {
  const { robot_name, started_at, size_bytes, file_url, gaps, expires_at, status } = recording
  const [isCopied, setCopied] = useState(false)
  const copy = () => {
    onCopyLink()
    setCopied(true)
    setTimeout(() => setCopied(false), 2_000)
  }
  const about = [
    dateTime(started_at),
    operatorName,
    gaps.length > 0 && t('replay.header.gaps', { count: gaps.length }),
    expires_at !== null && t('replay.header.expires', { time: dateTime(expires_at) }),
  ]
  return (
    <header className={styles.header}>
      {back}
      <h1>{robot_name}</h1>
      <span className={styles.about}>{about.filter(Boolean).join(' · ')}</span>
      {status !== 'READY' && <RecordingStatusLabel recording={recording} />}
      {recording.mode === 'control' && <Badge>{t('replay.header.noVideo')}</Badge>}
      <span className={styles.space} />
      {onShare && (
        <Button
          variant="default"
          leftSection={<IconShare size={16} />}
          aria-label={t('replay.header.share')}
          onClick={onShare}
        >
          {t('replay.header.share')}
        </Button>
      )}
      {file_url !== null && <Download url={file_url} megabytes={size_bytes / 1_000_000} />}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={38} aria-label={t('replay.header.more')}>
            <IconMore size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={copy} closeMenuOnClick={false} aria-live="polite">
            {isCopied ? t('replay.header.copied') : t('replay.header.copyLink')}
          </Menu.Item>
          {onFoxglove && <Menu.Item onClick={onFoxglove}>{t('foxglove.title')}</Menu.Item>}
          {onDownloads && <Menu.Item onClick={onDownloads}>{t('replay.downloads.title')}</Menu.Item>}
          {onDelete && (
            <Menu.Item c="var(--mantine-color-error)" onClick={onDelete}>
              {t('replay.remove.title')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </header>
  )
}

function Download({ url, megabytes }: { url: string; megabytes: number }) {
  const label = t('replay.header.download', { size: dataSize(megabytes) })
  return (
    <Button
      component="a"
      href={url}
      download
      variant="default"
      leftSection={<IconDownload size={16} />}
      aria-label={label}
    >
      {label}
    </Button>
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
