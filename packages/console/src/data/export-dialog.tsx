import {
  Button,
  type ButtonProps,
  Checkbox,
  Group,
  Modal,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { fieldErrors } from '../base/form.tsx'
import { Problem } from '../base/states.tsx'
import { t } from '../texts/texts.ts'
import { type NewExport, useStartExport } from './use-dataset-exports.ts'

const DEFAULT_FPS = 30
const MAX_FPS = 120
const fields = ['name', 'fps', 'cameras'] as const
type Gaps = NonNullable<NewExport['gaps']>
const gapOptions: readonly { readonly value: Gaps; readonly label: string }[] = [
  { value: 'leave_out', label: t('data.export.leaveOut') },
  { value: 'cut', label: t('data.export.cut') },
  { value: 'include', label: t('data.export.include') },
]
type Alignment = NonNullable<NewExport['alignment']>
const alignmentOptions: readonly { readonly value: Alignment; readonly label: string }[] = [
  { value: 'causal', label: t('data.export.causal') },
  { value: 'nearest', label: t('data.export.nearest') },
]

interface Props extends ButtonProps {
  readonly chosen: Pick<NewExport, 'episode_ids' | 'dataset_ids'>
  readonly about: string | undefined
  readonly children: ReactNode
}

/** Renders a button whose dialog exports episodes as a LeRobot dataset. */
export function ExportButton({ chosen, about, children, ...button }: Props) {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button {...button} onClick={open}>
        {children}
      </Button>
      <Modal opened={opened} onClose={close} title={t('data.export.title')}>
        {opened && <ExportForm chosen={chosen} about={about} onCancel={close} />}
      </Modal>
    </>
  )
}

/** Returns a name that the address of a dataset can have, such as `ronja-2026-11-20`. */
const nameOf = (about = 'episodes'): string =>
  [
    about
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '') || 'episodes',
    new Date().toISOString().slice(0, 10),
  ].join('-')

function ExportForm({ chosen, about, onCancel }: Pick<Props, 'chosen' | 'about'> & { onCancel: () => void }) {
  const start = useStartExport()
  const navigate = useNavigate()
  const [name, setName] = useState(() => nameOf(about))
  const [isChecked, setChecked] = useState(false)
  const [fps, setFps] = useState<number | string>(DEFAULT_FPS)
  const [cameras, setCameras] = useState<string[]>([])
  const [gaps, setGaps] = useState<Gaps>('leave_out')
  const [alignment, setAlignment] = useState<Alignment>('causal')
  const [unfinished, setUnfinished] = useState(false)
  const errors = fieldErrors(start.error, fields)
  const missing = {
    name: isChecked && name.trim() === '' ? t('data.export.nameMissing') : undefined,
    fps: isChecked && !(Number(fps) >= 1) ? t('data.export.fpsMissing', { most: MAX_FPS }) : undefined,
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setChecked(true)
    if (name.trim() === '' || !(Number(fps) >= 1)) return
    start.mutate(
      {
        ...chosen,
        name: name.trim(),
        fps: Number(fps),
        gaps,
        alignment,
        unfinished,
        ...(cameras.length > 0 && { cameras }),
      },
      { onSuccess: () => void navigate({ to: '/datasets/exports' }) },
    )
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{t('data.export.explanation')}</Text>
        <TextInput
          label={t('data.export.name')}
          description={t('data.export.nameNote')}
          value={name}
          error={missing.name ?? errors?.name}
          onChange={({ currentTarget: { value } }) => setName(value)}
          required
          data-autofocus
        />
        <NumberInput
          label={t('data.export.fps')}
          description={t('data.export.fpsNote')}
          min={1}
          max={MAX_FPS}
          value={fps}
          error={missing.fps ?? errors?.fps}
          onChange={setFps}
          required
        />
        <TagsInput
          label={t('data.export.cameras')}
          description={t('data.export.camerasNote')}
          value={cameras}
          error={errors?.cameras}
          onChange={setCameras}
        />
        <Select<Gaps>
          label={t('data.export.gaps')}
          description={t('data.export.gapsNote')}
          data={gapOptions}
          value={gaps}
          onChange={(value) => value && setGaps(value)}
          allowDeselect={false}
        />
        <Select<Alignment>
          label={t('data.export.alignment')}
          data={alignmentOptions}
          value={alignment}
          onChange={(value) => value && setAlignment(value)}
          allowDeselect={false}
        />
        <Checkbox
          label={t('data.export.unfinished')}
          checked={unfinished}
          onChange={({ currentTarget: { checked } }) => setUnfinished(checked)}
        />
        {!errors && <Problem error={start.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={start.isPending}>
            {t('data.export.start')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
