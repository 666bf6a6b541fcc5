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
import { type NewExport, useStartExport } from './use-datasets.ts'

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

const defaults = {
  fps: 30 as number | string,
  cameras: [] as string[],
  gaps: 'leave_out' as Gaps,
  alignment: 'causal' as Alignment,
  unfinished: false,
}
type Values = typeof defaults & { readonly name: string }

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
  const [isChecked, setChecked] = useState(false)
  const [values, setValues] = useState<Values>(() => ({ ...defaults, name: nameOf(about) }))
  const change = (part: Partial<Values>) => setValues((old) => ({ ...old, ...part }))
  const errors = fieldErrors(start.error, fields)
  const [isNamed, hasFps] = [values.name.trim() !== '', Number(values.fps) >= 1]
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setChecked(true)
    if (!isNamed || !hasFps) return
    const { name, fps, cameras, ...options } = values
    start.mutate(
      {
        ...chosen,
        ...options,
        name: name.trim(),
        fps: Number(fps),
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
          value={values.name}
          error={isChecked && !isNamed ? t('data.export.nameMissing') : errors?.name}
          onChange={({ currentTarget: { value: name } }) => change({ name })}
          required
          data-autofocus
        />
        <NumberInput
          label={t('data.export.fps')}
          description={t('data.export.fpsNote')}
          min={1}
          max={MAX_FPS}
          value={values.fps}
          error={isChecked && !hasFps ? t('data.export.fpsMissing', { most: MAX_FPS }) : errors?.fps}
          onChange={(fps) => change({ fps })}
          required
        />
        <TagsInput
          label={t('data.export.cameras')}
          description={t('data.export.camerasNote')}
          value={values.cameras}
          error={errors?.cameras}
          onChange={(cameras) => change({ cameras })}
        />
        <Select<Gaps>
          label={t('data.export.gaps')}
          description={t('data.export.gapsNote')}
          data={gapOptions}
          value={values.gaps}
          onChange={(gaps) => gaps && change({ gaps })}
          allowDeselect={false}
        />
        <Select<Alignment>
          label={t('data.export.alignment')}
          data={alignmentOptions}
          value={values.alignment}
          onChange={(alignment) => alignment && change({ alignment })}
          allowDeselect={false}
        />
        <Checkbox
          label={t('data.export.unfinished')}
          checked={values.unfinished}
          onChange={({ currentTarget: { checked: unfinished } }) => change({ unfinished })}
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
