// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Colours of frames. A frame has the same one in every graph: hues come from kinds or from hashes of names, and small
// differences of lightness tell neighbours apart.

const KIND_HUES = {task: [220, 8], user: [44, 85], kernel: [16, 80], jit: [330, 42], script: [120, 45],
  inlined: [186, 50], missing: [280, 25]};
const DIFF_STEPS = 12;

function hash(text) {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++)
    value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return (value ^ value >>> 15) >>> 0;
}

class Palette {
  constructor(profile, isDark) {
    this.profile = profile;
    this.isDark = isDark;
    this.cache = {};
  }

  hsl(hue, saturation, shade) {
    const lightness = this.isDark ? 27 + shade * 9 : 66 + shade * 12;
    return `hsl(${hue} ${this.isDark ? saturation * 0.7 : saturation}% ${lightness}%)`;
  }

  kind(name, shade = 0.5) {
    return this.hsl(...KIND_HUES[name], shade);
  }

  hashed(text, shade = 0.5) {
    return text ? this.hsl(hash(text) % 360, 55, shade) : this.kind('task', shade);
  }

  // By frame, as the way of colouring asks.
  frames(mode) {
    return this.cache[mode] ??= this.profile.names.map((name, frame) => {
      const shade = hash(name) % 16 / 15;
      if (mode === 'object')
        return this.hashed(this.profile.object(frame), shade);
      return mode === 'name' ? this.hashed(name, shade) : this.kind(this.profile.kindName(frame), shade);
    });
  }

  // From shares before and after: blue is less, red is more, the stronger the larger the part that changed.
  change(before, after) {
    const part = before + after > 0 ? (after - before) / (before + after) : 0;
    const step = Math.round(part * DIFF_STEPS) / DIFF_STEPS;
    const strength = Math.abs(step);
    return `hsl(${step > 0 ? 8 : 215} ${Math.round(strength * 80)}% ` +
      `${this.isDark ? 28 + strength * 14 : 88 - strength * 28}%)`;
  }

  get same() {
    return this.change(1, 1);
  }

  get scale() {
    return [['less', this.change(1, 0)], ['same, or within the noise', this.same], ['more', this.change(0, 1)]];
  }
}
