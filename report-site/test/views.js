// The views of pictures: at a desk, with a phone, at night, on paper, and with colour blindness.

const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

/** For each view, the browser's options when a page is opened, and the preparation of that page. */
export const VIEWS = {
  light: { options: { viewport: { width: 1280, height: 720 }, colorScheme: 'light' } },
  wide: { options: { viewport: { width: 1920, height: 1080 }, colorScheme: 'light' } },
  dark: { options: { viewport: { width: 1280, height: 720 }, colorScheme: 'dark' } },
  phone: { options: { ...phone, colorScheme: 'light' } },
  print: {
    options: { viewport: { width: 700, height: 1000 }, colorScheme: 'light' }, // A4 less its margins, at 96 dpi
    prepare: (page) => page.emulateMedia({ media: 'print' }),
  },
  deuteranopia: {
    options: { viewport: { width: 1280, height: 720 }, colorScheme: 'light' },
    prepare: async (page) => {
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setEmulatedVisionDeficiency', { type: 'deuteranopia' });
    },
  },
};
