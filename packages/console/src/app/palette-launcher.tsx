import { ActionIcon, Button, Kbd } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { IconSearch } from '../base/icons.tsx'
import { useStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import { keyLabel, paletteOpened, sheetOpened, useShortcuts } from './shortcuts.ts'

const Palette = lazy(() => import('./palette.tsx'))
const ShortcutsSheet = lazy(async () => ({ default: (await import('./palette.tsx')).ShortcutsSheet }))

/** Shows the button of the palette, runs shortcuts, and loads palette and sheet when they are first opened. */
export default function PaletteLauncher({ isWide = false }: { isWide?: boolean }) {
  useShortcuts()
  const wantsPalette = useOnceTrue(useStore(paletteOpened))
  const wantsSheet = useOnceTrue(useStore(sheetOpened))
  const open = () => paletteOpened.set(true)
  return (
    <>
      {isWide ? (
        <Button
          variant="default"
          fullWidth
          justify="space-between"
          c="dimmed"
          fw={450}
          h={38}
          px="xs"
          onClick={open}
          leftSection={<IconSearch size={16} />}
          rightSection={<Kbd size="xs">{keyLabel('mod+k')}</Kbd>}
          styles={{ label: { flex: 1 } }}
        >
          {t('common.search')}
        </Button>
      ) : (
        <ActionIcon variant="subtle" color="gray" size={44} onClick={open} aria-label={t('app.palette.open')}>
          <IconSearch size={20} />
        </ActionIcon>
      )}
      <Suspense>
        {wantsPalette && <Palette />}
        {wantsSheet && <ShortcutsSheet />}
      </Suspense>
    </>
  )
}

/** Returns true from the first true value on. */
function useOnceTrue(value: boolean): boolean {
  const [wasTrue, setWasTrue] = useState(value)
  if (value && !wasTrue) setWasTrue(true)
  return wasTrue || value
}
