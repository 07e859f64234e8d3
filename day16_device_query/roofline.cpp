// SPDX-License-Identifier: MIT
#include "day16_device_query/roofline.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/check.h"

namespace day16 {
namespace {

constexpr double kWidth = 720, kHeight = 460;
constexpr double kLeft = 78, kRight = 696, kTop = 90, kBottom = 404;  // the plot's edges
constexpr double kLeastIntensity = 1.0 / 32, kMostIntensity = 4096;   // FLOP/byte
constexpr const char* kColours[] = {"#1a7f37", "#8250df", "#bc4c00", "#0969da"};
constexpr const char* kSlope = "#cf222e";

template <class... Values>
std::string text(const char* format, Values... values) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

std::string escaped(const std::string& plain) {
  std::string out;
  for (const char c : plain) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

// Three digits, and the unit that keeps them short: 512 GFLOP/s, 65.1 TFLOP/s.
std::string short_number(double value) {
  return text(value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
}
std::string flops(double gflops) {
  return gflops >= 1000 ? short_number(gflops / 1000) + " TFLOP/s" : short_number(gflops) + " GFLOP/s";
}
std::string intensity_name(double intensity) {
  return intensity < 1 ? text("1/%.0f", 1 / intensity) : text("%.0f", intensity);
}

std::string label(double x, double y, const std::string& words, const char* colour = "#24292f",
                  const char* anchor = "start", int size = 12) {
  return text("<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\" text-anchor=\"%s\" font-size=\"%d\">", x, y, colour,
              anchor, size) +
         escaped(words) + "</text>\n";
}

std::string line(double x0, double y0, double x1, double y1, const char* style) {
  return text("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x0, y0, x1, y1, style);
}

}  // namespace

double attainable(const Roofline& roofline, double intensity) {
  return std::min(roofline.rates.front().value, roofline.bandwidth.value * intensity);
}

double ridge(const Roofline& roofline, const Ceiling& rate) {
  return rate.value / roofline.bandwidth.value;
}

std::string roofline_svg(const Roofline& roofline) {
  days::require(!roofline.rates.empty() && roofline.bandwidth.value > 0,
                "roofline: needs a bandwidth and a rate");
  double most = 0;
  for (const Ceiling& rate : roofline.rates) {
    days::require(rate.value > 0, "roofline: a rate must be positive, not", rate.value);
    most = std::max(most, rate.value);
  }
  // Whole decades: the lowest holds the slope where it enters on the left, the highest has room above the
  // highest roof.
  const double low = std::floor(std::log10(roofline.bandwidth.value * kLeastIntensity));
  const double high = std::ceil(std::log10(most * 1.5));
  const auto x_of = [](double intensity) {
    return kLeft + (kRight - kLeft) * std::log2(intensity / kLeastIntensity) /
                       std::log2(kMostIntensity / kLeastIntensity);
  };
  const auto y_of = [=](double gflops) {
    return kBottom - (kBottom - kTop) * (std::log10(gflops) - low) / (high - low);
  };

  std::string svg = text(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
      "height=\"%.0f\" font-family=\"Helvetica, Arial, sans-serif\" role=\"img\">\n",
      kWidth, kHeight, kWidth, kHeight);
  svg += "<title>" + escaped(roofline.title) + "</title>\n";
  svg += text("<rect width=\"%.0f\" height=\"%.0f\" rx=\"8\" fill=\"#ffffff\"/>\n", kWidth, kHeight);
  svg += label(24, 32, roofline.title, "#24292f", "start", 17);
  svg += label(24, 53, roofline.subtitle, "#57606a");

  for (double intensity = kLeastIntensity; intensity <= kMostIntensity; intensity *= 4) {
    const double x = x_of(intensity);
    svg += line(x, kTop, x, kBottom, "stroke=\"#eaeef2\"");
    svg += label(x, kBottom + 18, intensity_name(intensity), "#57606a", "middle");
  }
  for (double power = low; power <= high; ++power) {
    const double y = y_of(std::pow(10, power));
    svg += line(kLeft, y, kRight, y, "stroke=\"#eaeef2\"");
    svg += label(kLeft - 8, y + 4,
                 text(power >= 3 ? "%.0f T" : "%g G", std::pow(10, power >= 3 ? power - 3 : power)),
                 "#57606a", "end");
  }
  svg += label((kLeft + kRight) / 2, kBottom + 40,
               "arithmetic intensity: operations for each byte moved (FLOP/byte)", "#24292f", "middle");
  svg += label(kLeft - 54, kTop - 12, "operations a second (FLOP/s)", "#24292f");

  // The slope up to the highest roof; each roof from where the slope meets it.
  const double left = kLeastIntensity, meet = std::min(most / roofline.bandwidth.value, kMostIntensity);
  const double x0 = x_of(left), y0 = y_of(roofline.bandwidth.value * left);
  const double x1 = x_of(meet), y1 = y_of(roofline.bandwidth.value * meet);
  svg += line(x0, y0, x1, y1, text("stroke=\"%s\" stroke-width=\"2.5\"", kSlope).c_str());
  const double angle = std::atan2(y1 - y0, x1 - x0) * 180 / 3.14159265358979;
  const double at = x_of(0.5), at_y = y_of(roofline.bandwidth.value * 0.5) - 8;
  svg += text("<g transform=\"rotate(%.1f %.1f %.1f)\">", angle, at, at_y) +
         label(at, at_y, roofline.bandwidth.name + " " + text("%.0f GB/s", roofline.bandwidth.value), kSlope,
               "middle") +
         "</g>\n";
  for (size_t i = 0; i < roofline.rates.size(); ++i) {
    const Ceiling& rate = roofline.rates[i];
    const char* colour = kColours[i % std::size(kColours)];
    const double y = y_of(rate.value),
                 from = x_of(std::clamp(ridge(roofline, rate), kLeastIntensity, kMostIntensity));
    svg += line(from, y, kRight, y, text("stroke=\"%s\" stroke-width=\"2.5\"", colour).c_str());
    svg += label(kRight, y - 6, rate.name + " " + flops(rate.value), colour, "end");
  }

  const double ridge_x =
      x_of(std::clamp(ridge(roofline, roofline.rates.front()), kLeastIntensity, kMostIntensity));
  const double ridge_y = y_of(roofline.rates.front().value);
  svg +=
      text("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"#ffffff\" stroke=\"%s\" stroke-width=\"2\"/>\n",
           ridge_x, ridge_y, kColours[0]);
  svg += label(ridge_x + 8, ridge_y + 18,
               text("ridge: %.1f FLOP/byte", ridge(roofline, roofline.rates.front())), kColours[0]);

  double drop = 46;  // every second marker's words hang lower, so that neighbours do not overlap
  for (const Marker& marker : roofline.markers) {
    const double x = x_of(marker.intensity), y = y_of(attainable(roofline, marker.intensity));
    svg += line(x, y, x, kBottom, "stroke=\"#57606a\" stroke-dasharray=\"3 4\"");
    svg += text("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#24292f\"/>\n", x, y);
    const bool flip = x > (kLeft + kRight) / 2;  // keep the words inside the plot
    const double text_x = flip ? x - 8 : x + 8;
    const double text_y = std::min(y + drop, kBottom - 26);
    drop = 136 - drop;
    svg += label(text_x, text_y, marker.name, "#24292f", flip ? "end" : "start");
    svg += label(text_x, text_y + 15, "at most " + flops(attainable(roofline, marker.intensity)), "#57606a",
                 flip ? "end" : "start");
  }
  return svg + "</svg>\n";
}

}  // namespace day16
