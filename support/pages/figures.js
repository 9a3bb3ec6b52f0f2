"use strict";
// Numbers, tooltips and line charts of the pages of mtc.
const figures = (() => {
  const escapeText = text => String(text).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
  const exact = number => number.toLocaleString("en-US");
  const bytes = number => {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    for (; number >= 1024 && unit < 4; ++unit) number /= 1024;
    return Number(number.toFixed(2)) + " " + units[unit];
  };
  const compact = number => {
    const size = Math.abs(number);
    if (size && (size < 1e-3 || size >= 1e15)) return number.toExponential(size < 1e-3 ? 1 : 2).replace(".0e", "e").replace("e+", "e");
    let unit = 0;
    for (; Math.abs(number) >= 999.5 && unit < 4; ++unit) number /= 1000;
    return Number(number.toPrecision(4)) + ["", "k", "M", "G", "T"][unit];
  };
  const precise = number => number === null || number === undefined ? "\u2013"
    : Math.abs(number) >= 1e6 || (number && Math.abs(number) < 1e-4) ? number.toExponential(3) : String(Number(number.toPrecision(5)));

  // Round values between two limits, about `wanted` of them.
  function ticks(low, high, wanted) {
    const span = high - low || Math.abs(high) || 1, raw = span / wanted, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find(factor => factor * power >= raw * .999) * power, all = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) all.push(Number((i * step).toPrecision(12)));
    return all;
  }
  function logTicks(low, high, wanted) {
    const exponents = [];
    for (let i = Math.floor(Math.log10(low)); i <= Math.log10(high); ++i) exponents.push(i);
    for (const factors of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7]]) {
      const all = exponents.flatMap(i => factors.map(factor => Number((factor * 10 ** i).toPrecision(12)))).filter(tick => tick >= low && tick <= high);
      if (all.length >= 3) return all.filter((_, i) => i % Math.ceil(all.length / (wanted + 2)) === 0);
    }
    return ticks(low, high, wanted);
  }

  let tip = null;
  function showTip(x, y, html) {
    if (!tip) {
      tip = document.createElement("div");
      tip.className = "tip screen";
      tip.setAttribute("aria-hidden", "true");
      document.body.append(tip);
    }
    tip.style.display = html ? "block" : "none";
    if (!html) return;
    tip.innerHTML = html;
    const right = x + 16 + tip.offsetWidth > innerWidth, below = y + 16 + tip.offsetHeight > innerHeight;
    tip.style.left = Math.max(right ? x - 12 - tip.offsetWidth : x + 16, 8) + "px";
    tip.style.top = Math.max(below ? y - 12 - tip.offsetHeight : y + 16, 8) + "px";
  }
  const hideTip = () => tip && showTip(0, 0, "");

  // Exponential moving averages of the points before and after each point, so that the curve does not lag. Half of the
  // weight is within 1 % of the points.
  function smooth(points) {
    const keep = .5 ** (1 / Math.max(points.length * .01, 2));
    const average = order => {
      let sum = 0, weight = 0;
      return order.map(point => {
        if (point.y !== null) {
          sum = keep * sum + (1 - keep) * point.y;
          weight = keep * weight + (1 - keep);
        }
        return weight ? sum / weight : null;
      });
    };
    const before = average(points), after = average([...points].reverse()).reverse();
    return points.map((point, i) => ({x: point.x, y: before[i] === null ? after[i] : after[i] === null ? before[i] : (before[i] + after[i]) / 2}));
  }
  const quantile = (values, share) => values.sort((a, b) => a - b)[Math.round((values.length - 1) * share)];

  // Fills `figure` with a chart: {title, unit, height, format, ratio, series: [{name, color, points, kind}]}. A point is
  // {x, y, low, high, label, best}; y is null where there is no value. Kinds: "line", "smoothed" (points, their range and
  // their average), "dots". The axis is logarithmic if the values differ by more than `ratio`.
  function lineChart(figure, chart) {
    const format = chart.format || compact, all = chart.series.flatMap(series => series.points).filter(point => point.y !== null);
    const shown = [];
    for (const series of chart.series) {
      if (series.kind === "smoothed" && series.points.length > 20) {
        shown.push({...series, kind: "faint", name: chart.series.length > 1 ? series.name : "values"});
        shown.push({...series, kind: "line", name: chart.series.length > 1 ? series.name + ", smoothed" : "smoothed", points: smooth(series.points)});
      } else {
        shown.push({...series, kind: series.kind === "smoothed" ? "line" : series.kind});
      }
    }
    let x0 = Infinity, x1 = -Infinity, low = Infinity, high = -Infinity, lowest = Infinity, highest = -Infinity;
    for (const point of all) {
      x0 = Math.min(x0, point.x);
      x1 = Math.max(x1, point.x);
      low = Math.min(low, point.y);
      high = Math.max(high, point.y);
      lowest = Math.min(lowest, point.low ?? point.y);
      highest = Math.max(highest, point.high ?? point.y);
    }
    const logarithmic = low > 0 && high / low > (chart.ratio || 100);
    const key = series => series.kind === "dots" ? "dot" : "line";
    const legend = shown.length < 2 ? "" : '<span class="legend">' + shown.map(series => `<span><i class="${key(series)}" style="background:${series.color};${
      series.kind === "faint" ? "opacity:.4" : ""}"></i>${escapeText(series.name)}</span>`).join("") + "</span>";
    const unit = [chart.unit, logarithmic ? "logarithmic" : ""].filter(Boolean).join(", ");
    figure.innerHTML = `<figcaption><h3>${escapeText(chart.title)} <span class="unit">${escapeText(unit)}</span></h3>${legend}</figcaption><div></div>`;
    const holder = figure.lastElementChild;
    // Extremes of a few steps may exceed the chart, so that they do not flatten the rest.
    let bottom = low, top = high;
    if (all.length) {
      bottom = Math.min(low, quantile(all.map(point => point.low ?? point.y), .1));
      top = Math.max(high, quantile(all.map(point => point.high ?? point.y), .9));
      const margin = logarithmic ? (top / bottom) ** .04 : (top - bottom) * .04;
      bottom = Math.max(lowest, logarithmic && bottom > 0 ? bottom / margin : bottom - margin);
      top = Math.min(highest, logarithmic ? top * margin : top + margin);
    }
    if (logarithmic) bottom = bottom > 0 ? bottom : low;
    else if (bottom > 0 && bottom < top * .4) bottom = 0;
    if (bottom === top) {
      bottom -= Math.abs(bottom) * .1 || 1;
      top += Math.abs(top) * .1 || 1;
    }
    if (x0 === x1) {
      x0 -= .5;
      x1 += .5;
    }
    const scale = value => logarithmic ? Math.log(Math.max(value, bottom * 1e-3)) : value, yTicks = (logarithmic ? logTicks : ticks)(bottom, top, 4);
    const labels = yTicks.map(format), left = Math.max(...labels.map(label => label.length), 3) * 6.6 + 12, bottomEdge = 22, topEdge = 8, right = 12;
    const description = all.length ? `${chart.title}: from ${format(all[0].y)} to ${format(all[all.length - 1].y)}; minimum ${format(lowest)}, maximum ${
      format(highest)}` : `${chart.title}: no values`;
    let map = null;

    function draw() {
      const width = Math.max(holder.clientWidth, 200), height = chart.height || 210;
      const x = value => left + (value - x0) / (x1 - x0) * (width - left - right);
      const y = value => topEdge + (1 - (scale(value) - scale(bottom)) / (scale(top) - scale(bottom))) * (height - topEdge - bottomEdge);
      const at = (px, py) => px.toFixed(1) + "," + py.toFixed(1);
      let body = "", marks = "";
      yTicks.forEach((tick, i) => {
        body += `<line class="grid" x1="${left}" x2="${width - right}" y1="${y(tick).toFixed(1)}" y2="${y(tick).toFixed(1)}"/>`;
        body += `<text x="${left - 8}" y="${(y(tick) + 4).toFixed(1)}" text-anchor="end">${escapeText(labels[i])}</text>`;
      });
      body += `<text x="${left - 8}" y="${height - 5}" text-anchor="end">step</text>`;
      const xTicks = ticks(x0, x1, Math.max(Math.floor((width - left) / 90), 2)).filter(Number.isInteger);
      xTicks.forEach(tick => {
        const px = x(tick), anchor = px > width - 24 ? "end" : "middle";
        body += `<text x="${(anchor === "end" ? width - 2 : px).toFixed(1)}" y="${height - 5}" text-anchor="${anchor}">${compact(tick)}</text>`;
      });
      for (const series of shown) {
        let path = "", open = false;
        for (const point of series.points) {
          if (point.y === null) open = false;
          else {
            path += (open ? "L" : "M") + at(x(point.x), y(point.y));
            open = true;
          }
        }
        if (series.kind === "faint" || series.band) {
          let run = [];
          const flush = () => {
            if (run.length > 1) marks += `<path fill="${series.color}" fill-opacity=".16" d="M${run.map(p => at(x(p.x), y(p.high))).join("L")}L${
              run.reverse().map(p => at(x(p.x), y(p.low))).join("L")}Z"/>`;
            run = [];
          };
          for (const point of series.points)
            if (point.y === null) flush();
            else run.push({x: point.x, low: point.low ?? point.y, high: point.high ?? point.y});
          flush();
        }
        const style = series.kind === "faint" ? 'stroke-width="1" stroke-opacity=".45"' : series.kind === "dots" ? 'stroke-width="1.5" stroke-dasharray="2 3"'
          : 'stroke-width="2"';
        marks += `<path fill="none" stroke="${series.color}" stroke-linejoin="round" stroke-linecap="round" ${style} d="${path}"/>`;
        const points = series.points.filter(point => point.y !== null);
        if (series.kind === "dots" || points.length === 1)
          for (const point of points)
            if (points.length <= 60 || point.best) marks += `<circle cx="${x(point.x).toFixed(1)}" cy="${y(point.y).toFixed(1)}" r="${point.best ? 5 : 3}" fill="${
              series.color}"${point.best ? ' stroke="var(--panel)" stroke-width="2"' : ""}/>`;
      }
      const [cx, cy, cw, ch] = [left - 6, topEdge - 7, width - left - right + 12, height - topEdge - bottomEdge + 8]; // A nested image clips.
      holder.innerHTML = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeText(description)}">${body}` +
        `<svg x="${cx}" y="${cy}" width="${cw}" height="${ch}" viewBox="${cx} ${cy} ${cw} ${ch}">${marks}</svg>` +
        `<line class="rule" y1="${topEdge}" y2="${height - bottomEdge}" visibility="hidden"/></svg>`;
      map = {x, left, width};
    }

    function hover(event) {
      const box = holder.getBoundingClientRect(), position = x0 + ((event.clientX - box.left) / box.width * map.width - map.left) / (map.width - map.left - right) * (x1 - x0);
      const nearest = points => points.reduce((best, point) => point.y !== null && (!best || Math.abs(point.x - position) < Math.abs(best.x - position)) ? point : best, null);
      const found = chart.series.map(series => ({series, point: nearest(series.points)})).filter(each => each.point);
      if (!found.length) return;
      const rule = holder.querySelector(".rule"), px = map.x(found[0].point.x);
      rule.setAttribute("x1", px);
      rule.setAttribute("x2", px);
      rule.setAttribute("visibility", "visible");
      showTip(event.clientX, event.clientY, found.map(({series, point}) => `<b>${escapeText(point.label || "step " + exact(point.x))}</b>` +
        `<span>${escapeText(series.name)}</span> ${escapeText(precise(point.y))}${point.low !== undefined && point.low !== point.high
          ? ` <span>(${escapeText(precise(point.low))} \u2013 ${escapeText(precise(point.high))})</span>` : ""}`).join("<br>"));
    }
    holder.addEventListener("pointermove", hover);
    holder.addEventListener("pointerleave", () => {
      hideTip();
      holder.querySelector(".rule")?.setAttribute("visibility", "hidden");
    });
    draw();
    let drawn = holder.clientWidth;
    new ResizeObserver(() => {
      if (Math.abs(holder.clientWidth - drawn) < 2) return;
      drawn = holder.clientWidth;
      draw();
    }).observe(holder);
  }

  return {escapeText, exact, bytes, compact, precise, ticks, showTip, hideTip, lineChart};
})();
