import { describe, expect, it } from 'vitest';
import { normalCdf, normalQuantile, tCdf, tQuantile } from '../../../../src/core/stats/index.ts';

/** Printed tables of Student's t: probability below, degrees of freedom, t. */
const T_TABLE = [
  [0.9, 1, 3.078],
  [0.95, 1, 6.314],
  [0.975, 1, 12.706],
  [0.995, 1, 63.657],
  [0.975, 2, 4.303],
  [0.975, 3, 3.182],
  [0.975, 5, 2.571],
  [0.95, 10, 1.812],
  [0.975, 10, 2.228],
  [0.995, 10, 3.169],
  [0.975, 30, 2.042],
  [0.975, 40, 2.021],
  [0.975, 60, 2.0],
  [0.975, 120, 1.98],
] as const;

/** Printed tables of the standard normal distribution. */
const NORMAL_TABLE = [
  [0.8, 0.8416],
  [0.9, 1.2816],
  [0.95, 1.6449],
  [0.975, 1.96],
  [0.99, 2.3263],
  [0.995, 2.5758],
  [0.9995, 3.2905],
] as const;

describe('quantiles', () => {
  it.each(T_TABLE)('t(%d, %i degrees) is %d as printed', (probability, freedom, t) => {
    expect(tQuantile(probability, freedom)).toBeCloseTo(t, 3);
    expect(tQuantile(1 - probability, freedom)).toBeCloseTo(-t, 3);
  });

  it.each(NORMAL_TABLE)('the normal quantile of %d is %d as printed', (probability, z) => {
    expect(normalQuantile(probability)).toBeCloseTo(z, 4);
    expect(normalQuantile(1 - probability)).toBeCloseTo(-z, 4);
  });

  it('are 0 in the middle, and t becomes normal with many degrees of freedom', () => {
    expect([tQuantile(0.5, 7), normalQuantile(0.5)]).toEqual([0, 0]);
    expect(tQuantile(0.975, 1e6)).toBeCloseTo(1.95996, 4);
  });
});

describe('distribution functions', () => {
  it('match printed values', () => {
    expect(normalCdf(0)).toBeCloseTo(0.5, 12);
    expect(normalCdf(1)).toBeCloseTo(0.8413447461, 9);
    expect(normalCdf(1.96)).toBeCloseTo(0.9750021049, 9);
    expect(normalCdf(-3)).toBeCloseTo(0.001349898, 9);
    expect(normalCdf(-6)).toBeCloseTo(9.8659e-10, 13);
    expect(tCdf(1, 1)).toBeCloseTo(0.75, 12); // Cauchy: 1/2 + atan(1)/π
    expect(tCdf(Math.SQRT2, 2)).toBeCloseTo(0.5 + Math.SQRT2 / (2 * Math.sqrt(4)), 12); // closed form for 2 degrees
  });

  it.each([-40, -2.5, -0.1, 0, 0.3, 1, 7, 300])(
    'match the closed forms of one and four degrees of freedom at %d',
    (t) => {
      expect(tCdf(t, 1)).toBeCloseTo(0.5 + Math.atan(t) / Math.PI, 12);
      const sine = t / Math.sqrt(4 + t * t);
      expect(tCdf(t, 4)).toBeCloseTo(0.5 + 0.75 * sine * (1 - sine ** 2 / 3), 12);
    },
  );
});
